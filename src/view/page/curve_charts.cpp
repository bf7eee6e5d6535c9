#include "view/page/curve_charts.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>

#include "view/curves/curves.hpp"

namespace trainrt::view::page {

namespace {

/// A run with its best report, and the place of each of its reports on each axis.
struct Placed {
  const RunSummary* run;
  const metrics::Record* best;
  std::vector<std::vector<double>> places;
};

struct Axis {
  std::string x, title;
};

bool has_place(const std::vector<double>& places) {
  return std::ranges::any_of(places, [](double place) { return std::isfinite(place); });
}

std::vector<Axis> axes_of(std::span<const RunSummary* const> runs) {
  std::vector<Axis> axes = {{"iteration", "iteration"}, {"time", "seconds of training"}};
  if (std::ranges::any_of(runs, [](const auto* run) { return has_place(places_of(*run, "step")); }))
    axes.push_back({"step", "step"});
  return axes;
}

/// The first report of each attempt but the first that has a value.
void mark_restarts(Series& series, const RunSummary& run, const std::vector<std::size_t>& reports) {
  for (std::size_t i = 1; i < run.attempts.size(); ++i) {
    const auto first = std::ranges::find_if(
        reports, [&](std::size_t report) { return run.reports[report].iteration > run.attempts[i].first_iteration; });
    if (first != reports.end()) series.restarts.push_back(static_cast<std::size_t>(first - reports.begin()));
  }
}

/// Reports by their numbers in the run: those that a thinned curve keeps, and those that are marked.
std::vector<std::size_t> kept_reports(const std::vector<Point>& points, std::size_t most, const Placed& placed) {
  const auto& run = *placed.run;
  std::set<std::size_t> kept;
  for (const auto& point : thinned(points, most)) kept.insert(static_cast<std::size_t>(point.x));
  const auto keep_first_after = [&](std::int64_t iteration) {
    const auto first = std::ranges::find_if(
        points, [&](const Point& point) { return run.reports[static_cast<std::size_t>(point.x)].iteration > iteration; });
    if (first != points.end()) kept.insert(static_cast<std::size_t>(first->x));
  };
  for (std::size_t i = 1; i < run.attempts.size(); ++i) keep_first_after(run.attempts[i].first_iteration);
  if (placed.best != nullptr) keep_first_after(placed.best->iteration - 1);
  return {kept.begin(), kept.end()};
}

Series series_of(const Placed& placed, const std::string& metric, std::size_t most, std::size_t& not_finite) {
  const auto& run = *placed.run;
  std::vector<Point> points;
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const auto value = run.reports[i].number(metric);
    if (!value) continue;
    if (std::isfinite(*value))
      points.push_back({static_cast<double>(i), *value});
    else
      ++not_finite;
  }
  const auto reports = kept_reports(points, most, placed);
  Series series{.name = run.record.name, .places = {}, .values = {}};
  for (const auto& axis : placed.places) {
    series.places.emplace_back();
    for (const auto report : reports) series.places.back().push_back(axis[report]);
  }
  for (const auto report : reports) series.values.push_back(*run.reports[report].number(metric));
  mark_restarts(series, run, reports);
  if (placed.best != nullptr) {
    const auto found = std::ranges::find(reports, static_cast<std::size_t>(placed.best - run.reports.data()));
    if (found != reports.end()) series.best = static_cast<std::size_t>(found - reports.begin());
  }
  return series;
}

/// The best first, if they are scored alike; as they are otherwise.
std::vector<const RunSummary*> chosen_runs(std::span<const RunSummary> runs, std::size_t most) {
  std::vector<const RunSummary*> chosen;
  for (const auto& run : runs) chosen.push_back(&run);
  if (chosen.size() <= most) return chosen;
  const auto& spec = runs.front().record.spec;
  const auto attribute = spec.find("checkpoint.score_attribute");
  const auto order = spec.find("checkpoint.score_order");
  if (attribute != spec.end()) {
    const double sign = order != spec.end() && order->second == "max" ? -1 : 1;
    const auto score = [&](const RunSummary* run) {
      const auto value = run->best() != nullptr ? run->best()->number(attribute->second) : std::nullopt;
      return value && std::isfinite(*value) ? sign * *value : INFINITY;
    };
    std::vector<std::pair<double, const RunSummary*>> scored;
    for (const auto* run : chosen) scored.emplace_back(score(run), run);
    std::ranges::stable_sort(scored, {}, &std::pair<double, const RunSummary*>::first);
    std::ranges::transform(scored, chosen.begin(), &std::pair<double, const RunSummary*>::second);
  }
  chosen.resize(most);
  return chosen;
}

std::string note_of(std::size_t not_finite, std::size_t shown, std::size_t all) {
  std::string note;
  if (not_finite == 1) note = "1 value is not finite, and left out.";
  if (not_finite > 1) note = fmt::format("{} values are not finite, and left out.", not_finite);
  if (shown < all) note += fmt::format("{}Shown are {} of {} runs.", note.empty() ? "" : " ", shown, all);
  return note;
}

}  // namespace

CurveCharts curve_charts(std::span<const RunSummary> runs, const CurveLimits& limits) {
  CurveCharts result;
  auto metrics = own_metrics(runs);
  if (metrics.size() > limits.charts) {
    result.metrics_without = metrics.size() - limits.charts;
    metrics.resize(limits.charts);
  }
  const auto chosen = chosen_runs(runs, limits.curves);
  const auto axes = axes_of(chosen);
  std::vector<Placed> placed;
  for (const auto* run : chosen) {
    placed.push_back({run, run->best(), {}});
    for (const auto& axis : axes) placed.back().places.push_back(places_of(*run, axis.x));
  }
  const auto most = std::clamp(limits.points_of_all / std::max<std::size_t>(1, metrics.size() * chosen.size()),
                               limits.least_points_of_curve, limits.points_of_curve);
  for (const auto& metric : metrics) {
    Chart chart{.title = metric, .axes = {}, .series = {}};
    for (const auto& axis : axes) chart.axes.push_back(axis.title);
    std::size_t not_finite = 0;
    for (const auto& run : placed) {
      auto series = series_of(run, metric, most, not_finite);
      if (!series.values.empty()) chart.series.push_back(std::move(series));
    }
    chart.note = note_of(not_finite, chosen.size(), runs.size());
    result.charts.push_back(std::move(chart));
  }
  return result;
}

}  // namespace trainrt::view::page
