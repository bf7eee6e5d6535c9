#include "view/page/step_charts.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "view/curves/curves.hpp"

namespace trainrt::view::page {

namespace {

constexpr std::size_t most_stretches = 400;
constexpr std::size_t most_points = 1000;

/// NaN if one of them is no time; 0 if the clock was set back in between.
double minutes_between(const std::string& from, const std::string& to) try {
  return std::max(0.0, seconds_between(from, to)) / 60;
} catch (const Error&) {
  return NAN;
}

float highest_of(const std::vector<float>& values) {
  float highest = NAN;
  for (const float value : values)
    if (!(value <= highest)) highest = std::isnan(value) ? highest : value;
  return highest;
}

/// With an empty one between two attempts, so that no line joins them.
std::vector<Stretch> with_gaps(const std::vector<Stretch>& stretches) {
  std::vector<Stretch> all;
  for (const auto& stretch : stretches) {
    if (!all.empty() && all.back().front().attempt != stretch.front().attempt) all.emplace_back();
    all.push_back(stretch);
  }
  return all;
}

/// Where the stretches end, on both axes; a gap is right behind the one before.
std::vector<std::vector<double>> places_of_stretches(std::span<const Stretch> stretches) {
  std::vector<std::vector<double>> places(2);
  for (const auto& stretch : stretches) {
    const bool is_gap = stretch.empty();
    places[0].push_back(is_gap ? places[0].back() + 1e-3
                               : minutes_between(stretches.front().front().time, stretch.back().time));
    places[1].push_back(is_gap ? places[1].back() + 0.5 : static_cast<double>(stretch.back().step));
  }
  return places;
}

Chart chart_of(std::string title, std::vector<Series> series) {
  return {.title = std::move(title), .axes = {"minutes since the first window", "step"}, .series = std::move(series)};
}

/// From one window to the next, so that saves and reports count too.
Series rate_series(std::span<const Stretch> stretches, std::vector<std::vector<double>> places) {
  Series series{.name = "steps a second", .places = std::move(places), .values = {}};
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (stretches[i].empty()) {
      series.values.push_back(NAN);
      continue;
    }
    const auto& last = stretches[i].back();
    const bool has_one_before = i > 0 && !stretches[i - 1].empty();
    const auto& before = has_one_before ? stretches[i - 1].back() : stretches[i].front();
    const double seconds = 60 * minutes_between(before.time, last.time);
    series.values.push_back(seconds > 0 ? static_cast<double>(last.step - before.step) / seconds : NAN);
  }
  return series;
}

/// Median over the ranks in milliseconds of a step, the mean over the stretch.
template <class Value>
Series mean_series(const std::string& name, std::span<const Stretch> stretches,
                   const std::vector<std::vector<double>>& places, const Value& microseconds) {
  Series series{.name = name, .places = places, .values = {}};
  for (const auto& stretch : stretches) {
    double sum = 0, steps = 0;
    for (const auto& window : stretch) {
      const double value = microseconds(window);
      if (!std::isfinite(value)) continue;
      sum += window.steps * value;
      steps += window.steps;
    }
    series.values.push_back(steps > 0 ? sum / steps / 1000 : NAN);
  }
  return series;
}

std::vector<Series> work_series(std::span<const StepWindow> windows, std::span<const Stretch> stretches,
                                const std::vector<std::vector<double>>& places) {
  std::set<std::string> kinds;
  for (const auto& window : windows)
    for (const auto& [kind, time] : window.work_us) kinds.insert(kind);
  std::vector<Series> all;
  for (const auto& kind : kinds)
    all.push_back(mean_series(kind, stretches, places, [&](const StepWindow& window) {
      const auto found = window.work_us.find(kind);
      return found != window.work_us.end() ? found->second : NAN;
    }));
  all.push_back(mean_series("waiting for other ranks", stretches, places, [](const StepWindow& window) {
    return window.waits_us.empty() ? 0 : static_cast<double>(median_of(window.waits_us));
  }));
  return all;
}

}  // namespace

std::vector<Chart> step_charts(std::span<const StepWindow> windows) {
  if (windows.empty()) return {};
  const auto stretches = with_gaps(stretches_of(windows, most_stretches));
  const auto places = places_of_stretches(stretches);
  const auto ranks = std::ranges::max(windows, {}, [](const auto& window) { return window.own_us.size(); }).own_us.size();
  std::vector<Chart> charts;
  if (stretches.size() > 1) charts.push_back(chart_of("Steps a second", {rate_series(stretches, places)}));
  if (std::ranges::any_of(windows, [](const auto& window) { return !window.work_us.empty(); })) {
    charts.push_back(chart_of("What a step is made of (ms, median rank)", work_series(windows, stretches, places)));
    charts.back().is_stacked = true;
  }
  if (ranks > 1)
    charts.push_back(
        chart_of("A rank's own time in a step (ms)",
                 {mean_series("median rank", stretches, places,
                              [](const StepWindow& window) { return static_cast<double>(median_of(window.own_us)); }),
                  mean_series("slowest rank", stretches, places,
                              [](const StepWindow& window) { return static_cast<double>(highest_of(window.own_us)); })}));
  return charts;
}

std::vector<double> increments_of(const RunSummary& run, const std::string& key) {
  std::vector<double> increments;
  double before = 0;
  for (const auto& report : run.reports) {
    const auto sum = report.number(key);
    increments.push_back(sum ? (*sum >= before ? *sum - before : *sum) : NAN);
    before = sum.value_or(before);
  }
  return increments;
}

std::vector<Chart> report_charts(const RunSummary& run) {
  if (run.reports.size() < 2) return {};
  const auto times = places_of(run, "time");
  const auto data_s = increments_of(run, "_time_data_s"), saves_s = increments_of(run, "_time_checkpoint_s");
  std::vector<Point> rates, waits, saves;
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const auto seconds = run.reports[i].number("_time_this_iter_s");
    if (!seconds || !(*seconds > 0)) continue;
    rates.push_back({static_cast<double>(i), 1 / *seconds});
    if (std::isfinite(data_s[i])) waits.push_back({static_cast<double>(i), 100 * data_s[i] / *seconds});
    if (std::isfinite(saves_s[i])) saves.push_back({static_cast<double>(i), 1000 * saves_s[i]});
  }
  std::vector<Chart> charts;
  const auto add = [&](const std::string& title, const std::string& name, const std::vector<Point>& points) {
    if (points.size() < 2) return;
    Series series{.name = name, .places = std::vector<std::vector<double>>(2), .values = {}};
    for (const auto& point : thinned(points, most_points)) {
      const auto report = static_cast<std::size_t>(point.x);
      series.places[0].push_back(times[report] / 60);
      series.places[1].push_back(static_cast<double>(run.reports[report].iteration));
      series.values.push_back(point.y);
    }
    charts.push_back({.title = title, .axes = {"minutes of training", "iteration"}, .series = {std::move(series)}});
  };
  add("Iterations a second", "iterations a second", rates);
  add("Waiting for data (% of an iteration)", "waiting for data", waits);
  add("Standing still for saves (ms in an iteration)", "saves", saves);
  return charts;
}

}  // namespace trainrt::view::page
