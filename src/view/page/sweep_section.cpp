#include "view/page/sweep_section.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text/text.hpp"
#include "view/curves/comparison.hpp"
#include "view/curves/metric_charts.hpp"
#include "view/page/number_texts.hpp"
#include "view/page/runs_section.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

using Json = nlohmann::ordered_json;
using Runs = std::map<std::string, const RunSummary*>;

/// Returns the key as users write it in [tune.space].
std::string short_name(const std::string& key) { return key.starts_with("loop.") ? key.substr(5) : key; }

std::string order_of(const SweepSummary& sweep) { return sweep.minimize ? "lowest" : "highest"; }

Cell optional_cell(const std::optional<double>& number) { return number ? number_cell(*number) : text_cell("-"); }

Cell config_cell(const SweepTrial& trial, const std::string& key) {
  const auto found = trial.config.find(key);
  return found == trial.config.end() ? text_cell("-") : value_cell(found->second);
}

Runs runs_by_name(std::span<const RunSummary> runs) {
  Runs by_name;
  for (const auto& run : runs) by_name.emplace(run.record.name, &run);
  return by_name;
}

/// Returns the reported numbers other than the metric of the sweep and the counters of reports.
std::vector<std::string> other_metrics(const SweepSummary& sweep, std::span<const RunSummary> runs) {
  auto names = own_metrics(runs);
  std::erase(names, sweep.metric);
  return names;
}

std::vector<TableColumn> columns_of(const SweepSummary& sweep, const std::vector<std::string>& others) {
  std::vector<TableColumn> columns{{"trial"}, {"state"}};
  for (const auto& key : sweep.keys()) columns.push_back({short_name(key), true});
  if (!sweep.metric.empty()) {
    columns.push_back({"best " + sweep.metric, true, sweep.minimize ? "ascending" : "descending"});
    columns.push_back({"last " + sweep.metric, true});
  }
  for (const auto& name : others) columns.push_back({name, true});
  for (const auto* title : {"reports", "attempts", "time"}) columns.push_back({title, true});
  columns.push_back({"end"});
  return columns;
}

std::vector<Cell> row_of(const SweepSummary& sweep, const SweepTrial& trial, const RunSummary* run,
                         const std::vector<std::string>& others) {
  std::vector<Cell> row{header_cell(trial.name), {.shown = state_label(trial.state)}};
  for (const auto& key : sweep.keys()) row.push_back(config_cell(trial, key));
  if (!sweep.metric.empty()) row.insert(row.end(), {optional_cell(trial.best), optional_cell(trial.last)});
  const auto* report = run == nullptr ? nullptr : shown_report_of(*run);
  for (const auto& name : others) row.push_back(metric_cell(report, name));
  row.push_back(count_cell(trial.reports));
  row.push_back(run == nullptr ? text_cell("-") : count_cell(static_cast<std::int64_t>(run->attempt_count)));
  row.push_back(run == nullptr ? text_cell("-") : duration_cell(rundir::sum_of(run->accounts).total_s()));
  row.push_back(text_cell(trial.why));
  return row;
}

/// Returns the keys whose values differ between trials, or that only some trials set.
std::vector<std::string> differing_keys(const SweepSummary& sweep) {
  auto keys = sweep.keys();
  std::erase_if(keys, [&](const auto& key) {
    std::set<std::string> values;
    for (const auto& trial : sweep.trials) values.insert(trial.config.contains(key) ? trial.config.at(key) : "");
    return values.size() < 2;
  });
  return keys;
}

}  // namespace

std::string description_of(const SweepSummary& sweep) {
  std::map<rundir::RunState, std::int64_t> counts;
  for (const auto& trial : sweep.trials) ++counts[trial.state];
  std::vector<std::string> states;
  for (const auto& [state, count] : counts) states.push_back(fmt::format("{} {}", count, rundir::word_of(state)));
  const auto metric =
      sweep.metric.empty() ? "no metric" : fmt::format("metric {}, the {} is the best", sweep.metric, order_of(sweep));
  return fmt::format("sweep of {} · {} · {} · {}", counted(static_cast<std::int64_t>(sweep.trials.size()), "trial"), metric,
                     join(states), sweep.path);
}

Section best_trial_section(const SweepSummary& sweep) {
  Section section{.id = "best", .title = "Best trial", .content = {}};
  const auto* best = sweep.best();
  if (best == nullptr) {
    section.content = paragraph(sweep.metric.empty() ? "The sweep has no tune.metric, so no trial is the best."
                                                     : fmt::format("No trial has reported {} yet.", sweep.metric),
                                "note");
    return section;
  }
  std::vector<std::pair<std::string, Markup>> tiles{
      {"trial", text(best->name)},
      {fmt::format("{} {}", order_of(sweep), sweep.metric), number_cell(*best->best).shown},
      {"reports", text(std::to_string(best->reports))}};
  for (const auto& [key, value] : best->config) tiles.emplace_back(short_name(key), value_cell(value).shown);
  section.content = element("div", {{"class", "tiles"}}, definitions(tiles));
  section.content += paragraph("Details: trainrt result " + shell_quoted(best->path), "where");
  return section;
}

Section trials_section(const SweepSummary& sweep, std::span<const RunSummary> runs) {
  const auto by_name = runs_by_name(runs);
  const auto others = other_metrics(sweep, runs);
  TableModel model{.caption = "trials", .columns = columns_of(sweep, others), .rows = {}, .can_be_sorted = true};
  for (const auto& trial : sweep.trials) {
    const auto run = by_name.find(trial.name);
    model.rows.push_back(row_of(sweep, trial, run == by_name.end() ? nullptr : run->second, others));
  }
  Section section{.id = "trials", .title = "Trials", .content = table(model)};
  if (!sweep.metric.empty() && !others.empty())
    section.content += paragraph(fmt::format("{} of the report with the best {}.", join(others), sweep.metric), "note");
  return section;
}

Json parallel_json(const SweepSummary& sweep, std::span<const RunSummary> runs) {
  constexpr std::size_t max_axes = 16, max_lines = 2000;
  const auto by_name = runs_by_name(runs);
  auto keys = differing_keys(sweep);
  auto names = sweep.metric.empty() ? own_metrics(runs) : std::vector{sweep.metric};
  keys.resize(std::min(keys.size(), max_axes));
  names.resize(std::min(names.size(), max_axes));
  Json axes = Json::array(), lines = Json::array();
  for (const auto& key : keys) axes.push_back(short_name(key));
  for (const auto& name : names) axes.push_back(name);
  for (const auto& trial : sweep.trials) {
    const auto run = by_name.find(trial.name);
    if (run == by_name.end() || lines.size() == max_lines) continue;
    Json values = Json::array();
    for (const auto& key : keys)
      values.push_back(trial.config.contains(key) ? json_of_value(trial.config.at(key)) : Json());
    for (const auto& name : names) values.push_back(value_of_metric(*run->second, name));
    lines.push_back({{"name", trial.name}, {"values", std::move(values)}});
  }
  return {{"axes", std::move(axes)}, {"runs", std::move(lines)}};
}

}  // namespace trainrt::view::page
