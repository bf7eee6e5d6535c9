#include "cli/run_comparison.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/table.hpp"

namespace trainrt::cli {

namespace {

/// [loop] keys that the runs do not have alike: what was tried.
std::vector<std::string> differing_keys(const std::vector<view::RunSummary>& runs) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& run : runs)
    for (const auto& [key, value] : run.record.loop) values[key].insert(value);
  std::vector<std::string> keys;
  for (const auto& [key, all] : values) {
    const bool everywhere = std::ranges::all_of(runs, [&](const auto& run) { return run.record.loop.contains(key); });
    if (all.size() > 1 || !everywhere) keys.push_back(key);
  }
  return keys;
}

/// Of the runs' own metrics, in the order in which they appear.
std::vector<std::string> metric_names(const std::vector<view::RunSummary>& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs)
    if (const auto* last = run.last())
      for (const auto& [key, value] : last->values)
        if (!key.starts_with("_") && std::ranges::find(names, key) == names.end()) names.push_back(key);
  return names;
}

std::string cell_of(const metrics::Record* record, const std::string& key) {
  const auto* value = record != nullptr ? record->find(key) : nullptr;
  if (value == nullptr) return "-";
  if (const auto* number = std::get_if<double>(value)) return fmt::format("{:.4g}", *number);
  return std::visit([](const auto& shown) { return fmt::format("{}", shown); }, *value);
}

/// The best by checkpoint.score_attribute if the run has one, else the last report.
const metrics::Record* shown_of(const view::RunSummary& run) { return run.best() != nullptr ? run.best() : run.last(); }

}  // namespace

std::string comparison_of(const std::vector<view::RunSummary>& runs) {
  const auto keys = differing_keys(runs);
  const auto metrics = metric_names(runs);
  std::vector<Table::Column> columns = {{"run"}, {"state"}, {"iterations", true}, {"attempts", true}, {"goodput", true}};
  for (const auto& key : keys) columns.push_back({"loop." + key, true});
  columns.push_back({"of", true});
  for (const auto& name : metrics) columns.push_back({printable(name), true});
  Table table(columns);
  for (const auto& run : runs) {
    std::vector<std::string> cells = {run.record.name, run.record.state,
                                      run.is_silent() ? "-" : std::to_string(run.reports.size()),
                                      std::to_string(run.attempt_count), view::goodput_text(rundir::sum_of(run.accounts))};
    for (const auto& key : keys) cells.push_back(run.record.loop.contains(key) ? run.record.loop.at(key) : "-");
    const auto* shown = shown_of(run);
    cells.push_back(shown == nullptr ? "-"
                                     : fmt::format("{} {}", run.best() != nullptr ? "best" : "last", shown->iteration));
    for (const auto& name : metrics) cells.push_back(cell_of(shown, name));
    table.add(cells);
  }
  return table.text("");
}

}  // namespace trainrt::cli
