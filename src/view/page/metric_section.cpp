#include "view/page/metric_section.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "view/curves/metric_charts.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

struct Extremes {
  double min = std::numeric_limits<double>::infinity(), max = -min;
};

/// Returns the extremes of the finite values of the metric `key`; nullopt if no value is finite.
std::optional<Extremes> extremes_of(const RunSummary& run, const std::string& key) {
  Extremes extremes;
  for (const auto& report : run.reports) {
    const auto number = report.number(key);
    if (!number || !std::isfinite(*number)) continue;
    extremes.min = std::min(extremes.min, *number);
    extremes.max = std::max(extremes.max, *number);
  }
  return extremes.min <= extremes.max ? std::optional(extremes) : std::nullopt;
}

Markup metric_table(const RunSummary& run) {
  const auto* best = run.best();
  TableModel model{.caption = "metrics of the reports",
                   .columns = {{"metric"}, {fmt::format("last report ({})", run.last()->iteration), true}},
                   .rows = {},
                   .can_be_sorted = true};
  if (best != nullptr) model.columns.push_back({fmt::format("best report ({})", best->iteration), true});
  model.columns.insert(model.columns.end(), {{"minimum", true}, {"maximum", true}});
  for (const auto& [key, value] : run.last()->values) {
    if (key.starts_with("_")) continue;
    std::vector<Cell> row = {header_cell(key), metric_cell(run.last(), key)};
    if (best != nullptr) row.push_back(metric_cell(best, key));
    const auto extremes = extremes_of(run, key);
    row.push_back(extremes ? number_cell(extremes->min) : text_cell("-"));
    row.push_back(extremes ? number_cell(extremes->max) : text_cell("-"));
    model.rows.push_back(std::move(row));
  }
  return table(model);
}

/// Returns a table of the last reports, the newest first.
Markup last_reports(const RunSummary& run) {
  constexpr std::size_t max_reports = 10;
  TableModel model{.caption = "last reports", .columns = {{"iteration", true}}, .rows = {}};
  std::vector<std::string> keys;
  for (const auto& [key, value] : run.last()->values)
    if (!key.starts_with("_")) keys.push_back(key);
  for (const auto& key : keys) model.columns.push_back({key, true});
  const auto from = run.reports.size() - std::min(run.reports.size(), max_reports);
  for (auto i = run.reports.size(); i-- > from;) {
    std::vector<Cell> row = {count_cell(run.reports[i].iteration)};
    for (const auto& key : keys) row.push_back(metric_cell(&run.reports[i], key));
    model.rows.push_back(std::move(row));
  }
  auto content = element("summary", {}, "Last reports");
  content += table(model);
  return element("details", {}, content);
}

}  // namespace

Markup curves_of(std::span<const RunSummary> runs, PageCharts& charts, bool are_ranked) {
  MetricChartOptions options{.x_axes = {"iteration", "time"}, .are_ranked = are_ranked};
  const auto has_steps = [](const RunSummary& run) {
    return std::ranges::any_of(x_values(run, "step"), [](double step) { return std::isfinite(step); });
  };
  if (std::ranges::any_of(runs, has_steps)) options.x_axes.emplace_back("step");
  const auto curves = metric_charts(runs, options);
  if (curves.charts.empty()) return {};
  Markup figures;
  for (const auto& chart : curves.charts) figures += charts.add(chart);
  auto content =
      element("div", {{"class", "controls"}, {"data-controls", ""}});  // the script of the page inserts the controls
  content += element("div", {{"class", "charts"}, {"id", "curves"}}, figures);
  if (curves.omitted_metrics > 0)
    content += paragraph(
        fmt::format("{} more metrics have no chart; trainrt plot --metrics draws them.", curves.omitted_metrics), "note");
  return content;
}

Section metric_section(const RunSummary& run, PageCharts& charts) {
  Section section{.id = "metrics", .title = "Metrics", .content = {}};
  if (run.reports.empty()) {
    section.content = paragraph(run.is_silent() ? "The program does not report its metrics." : "No reports yet.", "note");
    return section;
  }
  section.content += curves_of(std::span(&run, 1), charts);
  section.content += metric_table(run);
  section.content += last_reports(run);
  return section;
}

}  // namespace trainrt::view::page
