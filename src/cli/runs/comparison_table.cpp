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

/// Returns the keys of [loop] that have the same value in all runs: "loop.batch_size = 32; loop.epochs = 5". Values of the
/// Python package that describe the script, such as names of functions, are left out.
std::string common_values(const std::vector<view::RunSummary>& runs) {
  constexpr std::size_t max_value = 40;
  const auto differing = view::differing_keys(runs);
  std::vector<std::string> parts;
  for (const auto& [key, value] : runs.front().record.loop)
    if (std::ranges::find(differing, key) == differing.end() && !key.starts_with("train_loop_per_worker"))
      parts.push_back(fmt::format("loop.{} = {}", key, printable(excerpt(value, max_value))));
  return join(parts, "; ");
}

}  // namespace

std::string comparison_table(const std::vector<view::RunSummary>& runs) {
  const auto keys = view::differing_keys(runs);
  const auto metrics = view::metric_names(runs);
  std::vector<Table::Column> columns = {{"run"}, {"state"}, {"iterations", true}, {"attempts", true}, {"goodput", true}};
  for (const auto& key : keys) columns.push_back({"loop." + key, true});
  columns.push_back({"metrics of", true});
  for (const auto& name : metrics) columns.push_back({printable(name), true});
  Table table(columns);
  for (const auto& run : runs) {
    std::vector<std::string> cells = {run.record.name, std::string(rundir::word_of(run.state)),
                                      run.is_silent() ? "-" : std::to_string(run.reports.size()),
                                      std::to_string(run.attempt_count), view::goodput_text(rundir::sum_of(run.accounts))};
    for (const auto& key : keys) cells.push_back(run.record.loop.contains(key) ? run.record.loop.at(key) : "-");
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
