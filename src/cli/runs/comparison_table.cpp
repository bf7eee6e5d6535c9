#include "cli/runs/comparison_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/terminal/table.hpp"
#include "core/text/text.hpp"
#include "view/curves/comparison.hpp"

namespace trainrt::cli {

namespace {

std::string cell_of(const metrics::Record* record, const std::string& key) {
  const auto* value = record != nullptr ? record->find(key) : nullptr;
  if (value == nullptr) return "-";
  if (const auto* number = std::get_if<double>(value)) return fmt::format("{:.4g}", *number);
  return std::visit([](const auto& shown) { return fmt::format("{}", shown); }, *value);
}

/// Returns the name of a [loop] key as its user writes it: "loop.epochs", or "lr" for a value of a train_loop_config.
std::string title_of(const std::string& key) {
  constexpr std::string_view of_script = "train_loop_config.";
  return key.starts_with(of_script) ? key.substr(of_script.size()) : "loop." + key;
}

/// Returns a value that fits into a column: the beginning of a long one, or the end of a path.
std::string short_value(const std::string& value) {
  constexpr std::size_t max_value = 20;
  if (value.size() <= max_value) return value;
  const auto slash = value.rfind('/');
  if (slash != std::string::npos && value.size() - slash <= max_value) return "..." + value.substr(slash);
  auto end = max_value;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;  // no UTF-8 character is split
  return value.substr(0, end) + "...";
}

/// Returns the keys of [loop] that have the same value in all runs: "loop.batch_size = 32; loop.epochs = 5". Keys of the
/// Python package that describe the script are left out.
std::string common_values(const std::vector<view::RunSummary>& runs) {
  constexpr std::size_t max_value = 40;
  const auto differing = view::differing_keys(runs);
  std::vector<std::string> parts;
  for (const auto& [key, value] : runs.front().record.loop)
    if (std::ranges::find(differing, key) == differing.end() && !view::describes_script(key))
      parts.push_back(fmt::format("{} = {}", title_of(key), printable(excerpt(value, max_value))));
  return join(parts, "; ");
}

}  // namespace

std::string comparison_table(const std::vector<view::RunSummary>& runs) {
  const auto keys = view::differing_keys(runs);
  const auto metrics = view::metric_names(runs);
  std::vector<Table::Column> columns = {{"run"}, {"state"}, {"iterations", true}, {"attempts", true}, {"goodput", true}};
  for (const auto& key : keys) columns.push_back({title_of(key), true});
  columns.push_back({"metrics of", true});
  for (const auto& name : metrics) columns.push_back({printable(name), true});
  Table table(columns);
  for (const auto& run : runs) {
    std::vector<std::string> cells = {run.record.name, std::string(rundir::word_of(run.state)),
                                      run.is_silent() ? "-" : std::to_string(run.reports.size()),
                                      std::to_string(run.attempt_count), view::goodput_text(rundir::sum_of(run.accounts))};
    for (const auto& key : keys)
      cells.push_back(run.record.loop.contains(key) ? short_value(run.record.loop.at(key)) : "-");
    const auto* shown = view::shown_report_of(run);
    cells.push_back(shown == nullptr ? "-"
                                     : fmt::format("{} {}", run.best() != nullptr ? "best" : "last", shown->iteration));
    for (const auto& name : metrics) cells.push_back(cell_of(shown, name));
    table.add(cells);
  }
  const auto common = runs.size() > 1 ? common_values(runs) : "";
  return table.text("") + (common.empty() ? "" : "the same in all runs: " + common + "\n");
}

}  // namespace trainrt::cli
