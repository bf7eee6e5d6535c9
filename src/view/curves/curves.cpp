#include "view/curves/curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::view {

namespace {

constexpr std::array<std::string_view, 3> counters = {"epoch", "step", "iteration"};

/// Numbers of its reports, in the order in which they appear.
std::vector<std::string> numbers_in(std::span<const RunSummary> runs) {
  std::vector<std::string> keys;
  std::set<std::string> seen;
  for (const auto& run : runs)
    for (const auto& report : run.reports)
      for (const auto& [key, value] : report.values)
        if (!seen.contains(key) && metrics::Record::real_of(value)) {
          seen.insert(key);
          keys.push_back(key);
        }
  return keys;
}

/// Without the runtime's own, and what only counts.
std::vector<std::string> own_of(const std::vector<std::string>& keys) {
  std::vector<std::string> own;
  for (const auto& key : keys)
    if (!key.starts_with('_') && std::ranges::count(counters, key) == 0) own.push_back(key);
  return own;
}

std::vector<std::string> metrics_of(const PlotChoice& choice, const std::vector<std::string>& there) {
  for (const auto& metric : choice.metrics)
    if (std::ranges::count(there, metric) == 0)
      throw UsageError(
          fmt::format("no report has a number '{}'{}; there are: {}", metric, did_you_mean(metric, there), join(there)));
  if (!choice.metrics.empty()) return choice.metrics;
  auto shown = own_of(there);
  std::erase(shown, choice.x);
  if (shown.empty()) throw UsageError("no report has a number to show; name one of: " + join(there));
  return shown;
}

Curve curve_of(const RunSummary& run, const std::vector<double>& places, const std::string& metric,
               const PlotChoice& choice) {
  Curve curve{.run = run.record.name};
  std::vector<Point> points;
  std::map<std::int64_t, Point> by_iteration;
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const auto value = run.reports[i].number(metric);
    if (!value || std::isnan(places[i])) continue;
    if (!std::isfinite(*value)) {
      ++curve.not_finite;
      continue;
    }
    points.push_back({places[i], *value});
    by_iteration[run.reports[i].iteration] = points.back();
  }
  for (std::size_t i = 1; i < run.attempts.size(); ++i)
    if (const auto first = by_iteration.upper_bound(run.attempts[i].first_iteration); first != by_iteration.end())
      curve.restarts.push_back(first->second);
  if (const auto* best = run.best(); best != nullptr)
    if (const auto found = by_iteration.find(best->iteration); found != by_iteration.end()) curve.best = found->second;
  std::ranges::stable_sort(points, {}, &Point::x);
  curve.points = thinned(points, choice.most_points);
  if (choice.smoothing > 0) curve.smoothed = thinned(smoothed(points, choice.smoothing), choice.most_points);
  return curve;
}

void check_axis(std::span<const RunSummary> runs, const std::vector<std::vector<double>>& places, const PlotChoice& choice,
                const std::vector<std::string>& there) {
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (std::ranges::any_of(places[i], [](double place) { return !std::isnan(place); })) return;
  const auto* advice = choice.x == "step" ? "; metrics.detailed = true records the step of each report" : "";
  throw UsageError(
      fmt::format("no report has '{}' for the x-axis{}; there are: iteration, time, {}", choice.x, advice, join(there)));
}

}  // namespace

std::vector<double> places_of(const RunSummary& run, const std::string& x) {
  std::vector<double> places;
  double seconds = 0;
  for (const auto& report : run.reports) {
    seconds += report.number("_time_this_iter_s").value_or(0);
    auto place = report.number(x);
    if (x == "iteration" && !place) place = static_cast<double>(report.iteration);
    if (x == "time") place = seconds;
    if (x == "step" && !place) place = report.number("_step");
    places.push_back(place.value_or(NAN));
  }
  return places;
}

std::vector<std::string> own_metrics(std::span<const RunSummary> runs) { return own_of(numbers_in(runs)); }

std::vector<Panel> panels_of(std::span<const RunSummary> runs, const PlotChoice& choice) {
  const auto there = numbers_in(runs);
  if (there.empty()) throw UsageError("there is nothing to show yet: no report");
  std::vector<std::vector<double>> places;
  for (const auto& run : runs) places.push_back(places_of(run, choice.x));
  check_axis(runs, places, choice, there);
  std::vector<Panel> panels;
  for (const auto& metric : metrics_of(choice, there)) {
    Panel panel{.metric = metric, .curves = {}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      auto curve = curve_of(runs[i], places[i], metric, choice);
      if (!curve.points.empty() || curve.not_finite > 0) panel.curves.push_back(std::move(curve));
    }
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::vector<Point> thinned(std::span<const Point> points, std::size_t most) {
  if (points.size() <= most || most < 4) return {points.begin(), points.end()};
  std::vector<Point> kept;
  const auto stretches = (most - 2) / 2;  // two of each, and the ends
  kept.push_back(points.front());
  const auto inner = points.subspan(1, points.size() - 2);
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto from = inner.size() * i / stretches, to = inner.size() * (i + 1) / stretches;
    const auto [lowest, highest] = std::ranges::minmax_element(inner.subspan(from, to - from), {}, &Point::y);
    kept.push_back(std::min(lowest, highest)[0]);
    if (lowest != highest) kept.push_back(std::max(lowest, highest)[0]);
  }
  kept.push_back(points.back());
  return kept;
}

std::vector<Point> smoothed(std::span<const Point> points, double weight) {
  std::vector<Point> result;
  double average = 0, bias = 1;
  for (const auto& point : points) {
    average = weight * average + (1 - weight) * point.y;
    bias *= weight;
    result.push_back({point.x, average / (1 - bias)});
  }
  return result;
}

}  // namespace trainrt::view
