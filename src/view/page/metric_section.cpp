#include "view/page/metric_section.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "view/page/curve_charts.hpp"
#include "view/page/figures.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

struct Extremes {
  double low = std::numeric_limits<double>::infinity(), high = -low;
};

/// nullopt if no value is finite.
std::optional<Extremes> extremes_of(const RunSummary& run, const std::string& key) {
  Extremes extremes;
  for (const auto& report : run.reports) {
    const auto number = report.number(key);
    if (!number || !std::isfinite(*number)) continue;
    extremes.low = std::min(extremes.low, *number);
    extremes.high = std::max(extremes.high, *number);
  }
  return extremes.low <= extremes.high ? std::optional(extremes) : std::nullopt;
}

Cell value_cell(const metrics::Record* record, const std::string& key) {
  const auto* value = record != nullptr ? record->find(key) : nullptr;
  if (value == nullptr) return word("-");
  const auto number = metrics::Record::real_of(*value);
  if (!number) return word(std::get<std::string>(*value));
  return {.shown = element("data", {{"value", exact_text(*value)}}, number_text(*number)), .value = number};
}

Markup metric_table(const RunSummary& run) {
  const auto* best = run.best();
  TableModel model{.caption = "metrics of the reports",
                   .columns = {{"metric"}, {fmt::format("last ({})", run.last()->iteration), true}},
                   .rows = {},
                   .can_be_sorted = true};
  if (best != nullptr) model.columns.push_back({fmt::format("at the best ({})", best->iteration), true});
  model.columns.insert(model.columns.end(), {{"lowest", true}, {"highest", true}});
  for (const auto& [key, value] : run.last()->values) {
    if (key.starts_with("_")) continue;
    std::vector<Cell> row = {name_cell(key), value_cell(run.last(), key)};
    if (best != nullptr) row.push_back(value_cell(best, key));
    const auto extremes = extremes_of(run, key);
    row.push_back(extremes ? figure(extremes->low) : word("-"));
    row.push_back(extremes ? figure(extremes->high) : word("-"));
    model.rows.push_back(std::move(row));
  }
  return table(model);
}

/// The reports at the end, as result.json has them.
Markup last_reports(const RunSummary& run) {
  constexpr std::size_t most = 10;
  TableModel model{.caption = "the last reports", .columns = {{"iteration", true}}, .rows = {}};
  std::vector<std::string> keys;
  for (const auto& [key, value] : run.last()->values)
    if (!key.starts_with("_")) keys.push_back(key);
  for (const auto& key : keys) model.columns.push_back({key, true});
  const auto from = run.reports.size() - std::min(run.reports.size(), most);
  for (auto i = run.reports.size(); i-- > from;) {
    std::vector<Cell> row = {count(run.reports[i].iteration)};
    for (const auto& key : keys) row.push_back(value_cell(&run.reports[i], key));
    model.rows.push_back(std::move(row));
  }
  auto content = element("summary", {}, "The last reports");
  content += table(model);
  return element("details", {}, content);
}

/// The script fills it with what can be chosen for all curves.
Markup controls() { return element("div", {{"class", "controls"}, {"data-controls", ""}}); }

}  // namespace

Markup curves_of(std::span<const RunSummary> runs, Drawings& drawings) {
  auto curves = curve_charts(runs);
  if (curves.charts.empty()) return {};
  Markup figures;
  for (auto& chart : curves.charts) figures += drawings.add(std::move(chart));
  auto content = controls();
  content += element("div", {{"class", "charts"}, {"id", "curves"}}, figures);
  if (curves.metrics_without > 0)
    content += paragraph(
        fmt::format("{} more metrics have no chart here; trainrt plot --metrics draws any.", curves.metrics_without),
        "note");
  return content;
}

Section metric_section(const RunSummary& run, Drawings& drawings) {
  Section section{.id = "metrics", .title = "Metrics", .content = {}};
  if (run.reports.empty()) {
    section.content =
        paragraph(run.is_silent() ? "The program does not report its metrics." : "There is no report yet.", "note");
    return section;
  }
  section.content += curves_of(std::span(&run, 1), drawings);
  section.content += metric_table(run);
  section.content += last_reports(run);
  return section;
}

}  // namespace trainrt::view::page
