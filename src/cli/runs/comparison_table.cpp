#include "cli/runs/comparison_table.hpp"

#include <fmt/format.h>

#include "cli/terminal/table.hpp"
#include "view/curves/comparison.hpp"

namespace trainrt::cli {

namespace {

std::string cell_of(const metrics::Record* record, const std::string& key) {
  const auto* value = record != nullptr ? record->find(key) : nullptr;
  if (value == nullptr) return "-";
  if (const auto* number = std::get_if<double>(value)) return fmt::format("{:.4g}", *number);
  return std::visit([](const auto& shown) { return fmt::format("{}", shown); }, *value);
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
  return table.text("");
}

}  // namespace trainrt::cli
