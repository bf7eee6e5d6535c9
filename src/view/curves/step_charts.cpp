#include "view/curves/step_charts.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "view/charts/points.hpp"
#include "view/curves/metric_charts.hpp"
#include "view/curves/rank_times.hpp"

namespace trainrt::view {

namespace {

constexpr std::size_t max_intervals = 400;
constexpr std::size_t max_report_points = 1000;

/// Returns the minutes between two UTC times. Returns NaN if a time is invalid, and 0 if the clock was set back in
/// between.
double minutes_between(const std::string& from, const std::string& to) try {
  return std::max(0.0, seconds_between(from, to)) / 60;
} catch (const Error&) {
  return NAN;
}

float max_of(const std::vector<float>& values) {
  float max = NAN;
  for (const float value : values)
    if (!(value <= max)) max = std::isnan(value) ? max : value;
  return max;
}

/// Inserts an empty interval between two attempts, so that no line connects them.
std::vector<Interval> with_gaps(const std::vector<Interval>& intervals) {
  std::vector<Interval> all;
  for (const auto& interval : intervals) {
    if (!all.empty() && all.back().front().attempt != interval.front().attempt) all.emplace_back();
    all.push_back(interval);
  }
  return all;
}

/// Returns the ends of the intervals, in minutes and in steps. The end of a gap between attempts is directly after the
/// end of the previous interval.
std::vector<std::vector<double>> ends_of(std::span<const Interval> intervals) {
  std::vector<std::vector<double>> x(2);
  for (const auto& interval : intervals) {
    const bool is_gap = interval.empty();
    x[0].push_back(is_gap ? x[0].back() + 1e-3 : minutes_between(intervals.front().front().time, interval.back().time));
    x[1].push_back(is_gap ? x[1].back() + 0.5 : static_cast<double>(interval.back().step));
  }
  return x;
}

Chart chart_of(std::string title, std::vector<Series> series) {
  for (std::size_t i = 0; i < series.size(); ++i) series[i].style = i;
  const bool has_legend = series.size() > 1;
  return {.title = std::move(title),
          .x_titles = {"minutes since the first window", "step"},
          .series = std::move(series),
          .has_legend = has_legend};
}

/// Returns a series of the steps per second between the ends of consecutive intervals. The times of saves and reports
/// are included.
Series rate_series(std::span<const Interval> intervals, std::vector<std::vector<double>> x) {
  Series series{.name = "steps per second", .x = std::move(x), .y = {}};
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].empty()) {
      series.y.push_back(NAN);
      continue;
    }
    const auto& last = intervals[i].back();
    const bool has_previous = i > 0 && !intervals[i - 1].empty();
    const auto& previous = has_previous ? intervals[i - 1].back() : intervals[i].front();
    const double seconds = 60 * minutes_between(previous.time, last.time);
    series.y.push_back(seconds > 0 ? static_cast<double>(last.step - previous.step) / seconds : NAN);
  }
  return series;
}

/// Returns a series of the mean of `microseconds(window)` over the steps of each interval, in milliseconds.
template <class Value>
Series mean_series(const std::string& name, std::span<const Interval> intervals, const std::vector<std::vector<double>>& x,
                   const Value& microseconds) {
  Series series{.name = name, .x = x, .y = {}};
  for (const auto& interval : intervals) {
    double sum = 0, steps = 0;
    for (const auto& window : interval) {
      const double value = microseconds(window);
      if (!std::isfinite(value)) continue;
      sum += window.steps * value;
      steps += window.steps;
    }
    series.y.push_back(steps > 0 ? sum / steps / 1000 : NAN);
  }
  return series;
}

std::vector<Series> work_series(std::span<const StepWindow> windows, std::span<const Interval> intervals,
                                const std::vector<std::vector<double>>& x) {
  std::set<std::string> kinds;
  for (const auto& window : windows)
    for (const auto& [kind, time] : window.work_us) kinds.insert(kind);
  std::vector<Series> all;
  for (const auto& kind : kinds)
    all.push_back(mean_series(kind, intervals, x, [&](const StepWindow& window) {
      const auto found = window.work_us.find(kind);
      return found != window.work_us.end() ? found->second : NAN;
    }));
  all.push_back(mean_series("waiting for other ranks", intervals, x, [](const StepWindow& window) {
    return window.waits_us.empty() ? 0 : static_cast<double>(median_of(window.waits_us));
  }));
  return all;
}

}  // namespace

std::vector<Chart> step_charts(std::span<const StepWindow> windows) {
  if (windows.empty()) return {};
  const auto intervals = with_gaps(intervals_of(windows, max_intervals));
  const auto x = ends_of(intervals);
  const auto ranks = std::ranges::max(windows, {}, [](const auto& window) { return window.own_us.size(); }).own_us.size();
  std::vector<Chart> charts;
  if (intervals.size() > 1) charts.push_back(chart_of("Steps per second", {rate_series(intervals, x)}));
  if (std::ranges::any_of(windows, [](const auto& window) { return !window.work_us.empty(); })) {
    charts.push_back(chart_of("Work in a step (ms, median rank)", work_series(windows, intervals, x)));
    charts.back().is_stacked = true;
  }
  if (ranks > 1)
    charts.push_back(
        chart_of("Time per step without waiting (ms)",
                 {mean_series("median rank", intervals, x,
                              [](const StepWindow& window) { return static_cast<double>(median_of(window.own_us)); }),
                  mean_series("slowest rank", intervals, x,
                              [](const StepWindow& window) { return static_cast<double>(max_of(window.own_us)); })}));
  return charts;
}

std::vector<double> increments_of(const RunSummary& run, const std::string& key) {
  std::vector<double> increments;
  double previous = 0;
  for (const auto& report : run.reports) {
    const auto sum = report.number(key);
    increments.push_back(sum ? (*sum >= previous ? *sum - previous : *sum) : NAN);
    previous = sum.value_or(previous);
  }
  return increments;
}

std::vector<Chart> report_charts(const RunSummary& run) {
  if (run.reports.size() < 2) return {};
  const auto times = x_values(run, "time");
  const auto data_s = increments_of(run, "_time_data_s"), saves_s = increments_of(run, "_time_checkpoint_s");
  std::vector<Point> rates, waits, saves;  // x: index of the report
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const auto seconds = run.reports[i].number("_time_this_iter_s");
    if (!seconds || !(*seconds > 0)) continue;
    rates.push_back({static_cast<double>(i), 1 / *seconds});
    if (std::isfinite(data_s[i])) waits.push_back({static_cast<double>(i), 100 * data_s[i] / *seconds});
    if (std::isfinite(saves_s[i])) saves.push_back({static_cast<double>(i), 1000 * saves_s[i]});
  }
  std::vector<Chart> charts;
  const auto add = [&](const std::string& title, const std::vector<Point>& points) {
    if (points.size() < 2) return;
    Series series{.name = title, .x = std::vector<std::vector<double>>(2), .y = {}};
    for (const auto& point : thinned(points, max_report_points)) {
      const auto report = static_cast<std::size_t>(point.x);
      series.x[0].push_back(times[report] / 60);
      series.x[1].push_back(static_cast<double>(run.reports[report].iteration));
      series.y.push_back(point.y);
    }
    charts.push_back({.title = title,
                      .x_titles = {"minutes of training", "iteration"},
                      .series = {std::move(series)},
                      .has_legend = false});
  };
  add("Iterations per second", rates);
  add("Waiting for data (% of an iteration)", waits);
  add("Training stopped for saves (ms per iteration)", saves);
  return charts;
}

}  // namespace trainrt::view
