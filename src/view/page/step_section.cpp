#include "view/page/step_section.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "view/curves/step_charts.hpp"
#include "view/page/heat_map.hpp"
#include "view/page/number_texts.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

using Nodes = std::map<std::size_t, std::string>;

/// Returns the node of each rank in the newest attempt that has rank records.
Nodes nodes_of(const std::vector<AttemptUsage>& usage) {
  Nodes nodes;
  if (!usage.empty())
    for (const auto& rank : usage.back().ranks) nodes[static_cast<std::size_t>(rank.rank)] = rank.host;
  return nodes;
}

std::string node_of(const Nodes& nodes, std::size_t rank) {
  const auto found = nodes.find(rank);
  return found != nodes.end() && !found->second.empty() ? found->second : "-";
}

/// Returns a bar that ends at the median time, and a thin line that ends at the 95th percentile. `max_us`: the time in
/// microseconds that a bar of the full width shows.
Markup time_bar_of(const RankRow& row, double max_us) {
  constexpr double width = 160;
  const double median = width * row.median_us / max_us, p95 = width * row.p95_us / max_us;
  if (!std::isfinite(median) || !std::isfinite(p95)) return {};
  auto content = element("rect", {{"class", "tail"}, {"y", "4"}, {"width", fmt::format("{:.1f}", p95)}, {"height", "2"}});
  content += element("rect", {{"class", "body"}, {"y", "1"}, {"width", fmt::format("{:.1f}", median)}, {"height", "8"}});
  return element("svg", {{"class", "line-bar"}, {"viewBox", fmt::format("0 0 {} 10", width)}, {"aria-hidden", "true"}},
                 content);
}

/// Returns a ratio as a difference in percent: "+14.8 %" for 1.148.
std::string difference_text(double ratio) {
  const double percent = std::round(1000 * (ratio - 1)) / 10;
  return percent == 0 ? "0 %" : fmt::format("{:+.1f} %", percent);
}

Markup rank_table(const RankTimes& times, const Nodes& nodes) {
  TableModel model{.caption = "step time by rank",
                   .columns = {{"rank"},
                               {"node"},
                               {"median", true},
                               {"95th percentile", true},
                               {"compared with the median rank", true},
                               {"windows delayed", true},
                               {"distribution"}},
                   .rows = {},
                   .can_be_sorted = true};
  double max_us = 0;
  for (const auto& row : times.rows)
    if (std::isfinite(row.p95_us)) max_us = std::max(max_us, row.p95_us);
  for (const auto& row : times.rows)
    model.rows.push_back(
        {{.shown = text(name_of(row)), .value = static_cast<double>(row.first), .is_header = true},
         text_cell(row.is_group() ? "-" : node_of(nodes, row.first)),
         {.shown = text(step_time_text(row.median_us)), .value = row.median_us},
         {.shown = text(step_time_text(row.p95_us)), .value = row.p95_us},
         std::isfinite(row.ratio) ? Cell{.shown = text(difference_text(row.ratio)), .value = row.ratio} : text_cell("-"),
         count_cell(static_cast<std::int64_t>(row.slow_windows)),
         {.shown = time_bar_of(row, max_us)}});
  return table(model);
}

/// Returns a table of the ranks that delayed other ranks, with a row for each rank and kind of work.
Markup slow_table(std::span<const StepWindow> windows, const Nodes& nodes) {
  struct Entry {
    std::int64_t windows = 0, first = 0, last = 0;
    double max_ratio = 0;
    std::string why;
  };
  std::map<std::pair<std::size_t, std::string>, Entry> entries;
  for (const auto& window : windows) {
    if (!window.slow) continue;
    auto& entry = entries[{window.slow->rank, window.slow->work}];
    if (entry.windows++ == 0) entry.first = window.step;
    entry.last = window.step;
    entry.max_ratio = std::max(entry.max_ratio, window.slow->ratio);
    if (!window.slow->why.empty()) entry.why = window.slow->why;
  }
  if (entries.empty()) return paragraph("No rank delayed the others.", "note");
  constexpr std::size_t max_entries = 30;
  std::vector<std::pair<std::pair<std::size_t, std::string>, Entry>> sorted(entries.begin(), entries.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.windows > b.second.windows; });
  if (sorted.size() > max_entries) sorted.resize(max_entries);
  TableModel model{
      .caption = "ranks that delayed the others",
      .columns = {{"rank", true}, {"node"}, {"work"}, {"windows", true}, {"steps"}, {"maximum delay", true}, {"reason"}},
      .rows = {},
      .can_be_sorted = true};
  for (const auto& [rank_and_work, entry] : sorted)
    model.rows.push_back({count_cell(static_cast<std::int64_t>(rank_and_work.first)),
                          text_cell(node_of(nodes, rank_and_work.first)),
                          text_cell(rank_and_work.second),
                          count_cell(entry.windows),
                          text_cell(fmt::format("{} to {}", entry.first, entry.last)),
                          {.shown = text(fmt::format("{:.0f} %", 100 * (entry.max_ratio - 1))), .value = entry.max_ratio},
                          text_cell(entry.why)});
  return table(model);
}

/// Returns the mean rate of iterations, and the share of the training time spent waiting for data, as text; "" if both
/// are unknown.
std::string rates_text(const RunSummary& run) {
  double seconds = 0, data_s = 0;
  bool has_data = false;
  for (const auto& report : run.reports) seconds += report.number("_time_this_iter_s").value_or(0);
  for (const double waited : increments_of(run, "_time_data_s")) {
    if (!std::isfinite(waited)) continue;
    has_data = true;
    data_s += waited;
  }
  if (!(seconds > 0)) return "";
  auto rates = fmt::format("{} in {} of training: {} iterations per second.",
                           counted(static_cast<std::int64_t>(run.reports.size()), "iteration"), duration_text(seconds),
                           number_text(static_cast<double>(run.reports.size()) / seconds));
  if (has_data)
    rates += fmt::format(" Waiting for data took {} of it ({}).", share_text(data_s / seconds), duration_text(data_s));
  return rates;
}

}  // namespace

Section step_section(const RunSummary& run, const StepHistory& history, const RankTimes& times,
                     const std::vector<AttemptUsage>& usage, PageCharts& charts) {
  Section section{.id = "steps", .title = "Speed", .content = {}};
  if (const auto rates = rates_text(run); !rates.empty()) section.content += paragraph(rates);
  Markup figures;
  for (const auto& chart : step_charts(history.windows)) figures += charts.add(chart);
  for (const auto& chart : report_charts(run)) figures += charts.add(chart);
  if (!figures.empty()) section.content += element("div", {{"class", "charts"}}, figures);
  if (history.windows.empty()) return section;
  const auto nodes = nodes_of(usage);
  section.content += heat_map_of(times);
  if (history.read_every > 1)
    section.content += paragraph(fmt::format("Only one in {} step time records was read.", history.read_every), "note");
  section.content += heading("Step time by rank");
  section.content += rank_table(times, nodes);
  if (times.ranks > 1) {
    section.content += heading("Ranks that delayed the others");
    section.content += slow_table(history.windows, nodes);
  }
  return section;
}

}  // namespace trainrt::view::page
