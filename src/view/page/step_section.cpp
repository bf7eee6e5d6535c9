#include "view/page/step_section.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "view/page/figures.hpp"
#include "view/page/heat_map.hpp"
#include "view/page/step_charts.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

using Nodes = std::map<std::size_t, std::string>;

/// By rank, in the newest attempt that tells.
Nodes nodes_of(const std::vector<AttemptUse>& use) {
  Nodes nodes;
  if (!use.empty())
    for (const auto& rank : use.back().ranks) nodes[static_cast<std::size_t>(rank.rank)] = rank.host;
  return nodes;
}

std::string node_of(const Nodes& nodes, std::size_t rank) {
  const auto found = nodes.find(rank);
  return found != nodes.end() && !found->second.empty() ? found->second : "-";
}

/// A line from nothing to the 95 %, thick up to the median, so that rows can be compared.
Markup time_line(const RankRow& row, double longest) {
  constexpr double width = 160;
  const double median = width * row.median_us / longest, high = width * row.high_us / longest;
  if (!std::isfinite(median) || !std::isfinite(high)) return {};
  auto content = element("rect", {{"class", "tail"}, {"y", "4"}, {"width", fmt::format("{:.1f}", high)}, {"height", "2"}});
  content += element("rect", {{"class", "body"}, {"y", "1"}, {"width", fmt::format("{:.1f}", median)}, {"height", "8"}});
  return element("svg", {{"class", "line-bar"}, {"viewBox", fmt::format("0 0 {} 10", width)}, {"aria-hidden", "true"}},
                 content);
}

/// "+14.8 %"
std::string beside_text(double ratio) {
  const double percent = std::round(1000 * (ratio - 1)) / 10;
  return percent == 0 ? "0 %" : fmt::format("{:+.1f} %", percent);
}

Markup rank_table(const RankTimes& times, const Nodes& nodes) {
  TableModel model{.caption = "step time by rank",
                   .columns = {{"rank"},
                               {"node"},
                               {"median", true},
                               {"95 % below", true},
                               {"beside the others", true},
                               {"windows held up", true},
                               {"distribution"}},
                   .rows = {},
                   .can_be_sorted = true};
  double longest = 0;
  for (const auto& row : times.rows)
    if (std::isfinite(row.high_us)) longest = std::max(longest, row.high_us);
  for (const auto& row : times.rows)
    model.rows.push_back(
        {{.shown = text(name_of(row)), .value = static_cast<double>(row.first), .is_header = true},
         word(row.is_group() ? "-" : node_of(nodes, row.first)),
         {.shown = text(step_time_text(row.median_us)), .value = row.median_us},
         {.shown = text(step_time_text(row.high_us)), .value = row.high_us},
         std::isfinite(row.ratio) ? Cell{.shown = text(beside_text(row.ratio)), .value = row.ratio} : word("-"),
         count(static_cast<std::int64_t>(row.slow_windows)),
         {.shown = time_line(row, longest)}});
  return table(model);
}

/// Who held the others up in which work, for how many windows.
Markup slow_table(std::span<const StepWindow> windows, const Nodes& nodes) {
  struct Entry {
    std::int64_t windows = 0, first = 0, last = 0;
    double worst = 0;
    std::string why;
  };
  std::map<std::pair<std::size_t, std::string>, Entry> entries;
  for (const auto& window : windows) {
    if (!window.slow) continue;
    auto& entry = entries[{window.slow->rank, window.slow->work}];
    if (entry.windows++ == 0) entry.first = window.step;
    entry.last = window.step;
    entry.worst = std::max(entry.worst, window.slow->ratio);
    if (!window.slow->why.empty()) entry.why = window.slow->why;
  }
  if (entries.empty()) return paragraph("No rank held the others up.", "note");
  constexpr std::size_t most = 30;
  std::vector<std::pair<std::pair<std::size_t, std::string>, Entry>> sorted(entries.begin(), entries.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.windows > b.second.windows; });
  if (sorted.size() > most) sorted.resize(most);
  TableModel model{
      .caption = "ranks that held the others up",
      .columns = {{"rank", true}, {"node"}, {"work"}, {"windows", true}, {"steps"}, {"slower by up to", true}, {"why"}},
      .rows = {},
      .can_be_sorted = true};
  for (const auto& [who, entry] : sorted)
    model.rows.push_back({count(static_cast<std::int64_t>(who.first)),
                          word(node_of(nodes, who.first)),
                          word(who.second),
                          count(entry.windows),
                          word(fmt::format("{} to {}", entry.first, entry.last)),
                          {.shown = text(fmt::format("{:.0f} %", 100 * (entry.worst - 1))), .value = entry.worst},
                          word(entry.why)});
  return table(model);
}

/// Sums over the run: how long an iteration took, and how much of the training waited for data.
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
  auto said = fmt::format("{} in {} of training: {} iterations a second.",
                          counted(static_cast<std::int64_t>(run.reports.size()), "iteration"), duration_text(seconds),
                          number_text(static_cast<double>(run.reports.size()) / seconds));
  if (has_data)
    said += fmt::format(" {} of it went into waiting for data ({}).", share_text(data_s / seconds), duration_text(data_s));
  return said;
}

}  // namespace

Section step_section(const RunSummary& run, const StepHistory& history, const RankTimes& times,
                     const std::vector<AttemptUse>& use, Drawings& drawings) {
  Section section{.id = "steps", .title = "Speed", .content = {}};
  if (const auto rates = rates_text(run); !rates.empty()) section.content += paragraph(rates);
  Markup figures;
  for (auto& chart : step_charts(history.windows)) figures += drawings.add(std::move(chart));
  for (auto& chart : report_charts(run)) figures += drawings.add(std::move(chart));
  if (!figures.empty()) section.content += element("div", {{"class", "charts"}}, figures);
  if (history.windows.empty()) return section;
  const auto nodes = nodes_of(use);
  section.content += heat_map_of(times);
  if (history.read_every > 1)
    section.content +=
        paragraph(fmt::format("Of the records of step times one in {} was read.", history.read_every), "note");
  section.content += heading("Step time by rank");
  section.content += rank_table(times, nodes);
  if (times.ranks > 1) {
    section.content += heading("Who held the others up");
    section.content += slow_table(history.windows, nodes);
  }
  return section;
}

}  // namespace trainrt::view::page
