#include "view/page/runs_section.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/options.hpp"
#include "core/text/text.hpp"
#include "view/curves/comparison.hpp"
#include "view/curves/metric_charts.hpp"
#include "view/page/table.hpp"
#include "view/page/time_section.hpp"

namespace trainrt::view::page {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_axes = 16, max_lines = 2000, max_bars_of_runs = 60;

Cell loop_cell(const RunSummary& run, const std::string& key) {
  const auto found = run.record.loop.find(key);
  if (found == run.record.loop.end()) return text_cell("-");
  return value_cell(found->second);
}

std::string report_text(const RunSummary& run) {
  const auto* shown = shown_report_of(run);
  if (shown == nullptr) return "-";
  return fmt::format("{} {}", run.best() != nullptr ? "best" : "last", shown->iteration);
}

Markup runs_table(std::span<const RunSummary> runs) {
  const auto keys = differing_keys(runs), metrics = metric_names(runs);
  TableModel model{
      .caption = "runs",
      .columns = {{"run"}, {"state"}, {"iterations", true}, {"attempts", true}, {"goodput", true}, {"time", true}},
      .rows = {},
      .can_be_sorted = true};
  for (const auto& key : keys) model.columns.push_back({key, true});
  model.columns.push_back({"report"});
  for (const auto& name : metrics) model.columns.push_back({name, true});
  for (const auto& run : runs) {
    const auto account = rundir::sum_of(run.accounts);
    std::vector<Cell> row = {header_cell(run.record.name),
                             {.shown = state_label(run.state)},
                             run.is_silent() ? text_cell("-") : count_cell(static_cast<std::int64_t>(run.reports.size())),
                             count_cell(static_cast<std::int64_t>(run.attempt_count)),
                             account.goodput() ? share_cell(account.goodput()) : text_cell("unknown"),
                             duration_cell(account.total_s())};
    for (const auto& key : keys) row.push_back(loop_cell(run, key));
    row.push_back(text_cell(report_text(run)));
    for (const auto& name : metrics) row.push_back(metric_cell(shown_report_of(run), name));
    model.rows.push_back(std::move(row));
  }
  return table(model);
}

Json value_of_loop(const RunSummary& run, const std::string& key) {
  const auto found = run.record.loop.find(key);
  return found == run.record.loop.end() ? Json() : json_of_value(found->second);
}

}  // namespace

Json json_of_value(const std::string& value) {
  const auto number = parse_real(value);
  return number && std::isfinite(*number) ? Json(*number) : Json(value);
}

Json value_of_metric(const RunSummary& run, const std::string& metric) {
  const auto* shown = shown_report_of(run);
  const auto number = shown != nullptr ? shown->number(metric) : std::nullopt;
  return number && std::isfinite(*number) ? Json(*number) : Json();
}

Section runs_section(std::span<const RunSummary> runs) {
  return {.id = "runs", .title = "Runs", .content = runs_table(runs)};
}

Section time_of_runs_section(std::span<const RunSummary> runs) {
  Section section{.id = "time", .title = "Use of time", .content = time_legend()};
  Markup bars;
  for (const auto& run : runs.first(std::min(runs.size(), max_bars_of_runs)))
    bars += bar_row(run.record.name, rundir::sum_of(run.accounts));
  section.content += element("div", {{"class", "bars"}}, bars);
  if (runs.size() > max_bars_of_runs)
    section.content += paragraph(fmt::format("{} of {} runs are shown.", max_bars_of_runs, runs.size()), "note");
  return section;
}

Section parallel_section(std::span<const RunSummary> runs) {
  Section section{.id = "parallel", .title = "Keys and results", .content = {}};
  if (runs.size() < 2) return section;
  section.content =
      element("figure", {{"class", "wide"}, {"id", "parallel-lines"}},
              element("p", {{"class", "note"}}, "This picture needs scripts. The table above has the same values."));
  return section;
}

Json parallel_json(std::span<const RunSummary> runs) {
  auto keys = differing_keys(runs), names = own_metrics(runs);
  if (keys.size() > max_axes) keys.resize(max_axes);
  if (names.size() > max_axes) names.resize(max_axes);
  Json axes = Json::array(), lines = Json::array();
  for (const auto& key : keys) axes.push_back(key);
  for (const auto& name : names) axes.push_back(name);
  for (const auto& run : runs.first(std::min(runs.size(), max_lines))) {
    Json values = Json::array();
    for (const auto& key : keys) values.push_back(value_of_loop(run, key));
    for (const auto& name : names) values.push_back(value_of_metric(run, name));
    lines.push_back({{"name", run.record.name}, {"values", std::move(values)}});
  }
  return {{"axes", std::move(axes)}, {"runs", std::move(lines)}};
}

}  // namespace trainrt::view::page
