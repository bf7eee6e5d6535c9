#include "view/curves/metric_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "view/charts/points.hpp"

namespace trainrt::view {

namespace {

constexpr std::array<std::string_view, 3> counters = {"epoch", "step", "iteration"};

/// Returns the names of all numeric values in the reports, in order of appearance.
std::vector<std::string> numbers_in(std::span<const RunSummary> runs) {
  std::vector<std::string> keys;
  std::set<std::string> seen;
  for (const auto& run : runs)
    for (const auto& report : run.reports)
      for (const auto& [key, value] : report.values)
        if (metrics::Record::real_of(value) && seen.insert(key).second) keys.push_back(key);
  return keys;
}

std::vector<std::string> without_counters(std::vector<std::string> keys) {
  std::erase_if(keys, [](const auto& key) { return key.starts_with('_') || std::ranges::count(counters, key) > 0; });
  return keys;
}

/// A run and the x values of its reports.
struct RunCurves {
  const RunSummary* run;
  std::size_t style;  ///< index of the run among all runs
  const metrics::Record* best;
  std::vector<std::vector<double>> x;
};

/// Returns the indices of at most `max` runs. If there are more runs and the first run has a score, the runs with the
/// best scores are chosen, the best first.
std::vector<std::size_t> chosen_runs(std::span<const RunSummary> runs, std::size_t max) {
  std::vector<std::size_t> chosen(runs.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  if (runs.size() <= max) return chosen;
  const auto& spec = runs.front().record.spec;
  const auto attribute = spec.find("checkpoint.score_attribute");
  const auto order = spec.find("checkpoint.score_order");
  if (attribute != spec.end()) {
    const double sign = order != spec.end() && order->second == "min" ? 1 : -1;
    std::vector<double> scores;
    for (const auto& run : runs) {
      const auto* best = run.best();
      const auto score = best != nullptr ? best->number(attribute->second) : std::nullopt;
      const bool is_finite = score && std::isfinite(*score);
      scores.push_back(is_finite ? sign * *score : std::numeric_limits<double>::infinity());
    }
    std::ranges::stable_sort(chosen, {}, [&](std::size_t run) { return scores[run]; });
  }
  chosen.resize(max);
  return chosen;
}

/// The reports of a run in which one metric has a finite value, in the order of their values on the first x-axis.
struct Values {
  std::vector<std::size_t> reports;  ///< indices
  std::vector<double> y;
  std::size_t not_finite = 0;
};

Values values_of(const RunCurves& curves, const std::string& metric) {
  Values values;
  for (std::size_t i = 0; i < curves.run->reports.size(); ++i) {
    const auto value = curves.run->reports[i].number(metric);
    if (!value || std::isnan(curves.x.front()[i])) continue;
    if (std::isfinite(*value))
      values.reports.push_back(i);
    else
      ++values.not_finite;
  }
  std::ranges::stable_sort(values.reports, {}, [&](std::size_t report) { return curves.x.front()[report]; });
  for (const auto report : values.reports) values.y.push_back(*curves.run->reports[report].number(metric));
  return values;
}

/// Returns the positions in `reports` of the first report of each attempt, except for the run's first attempt.
std::vector<std::size_t> restarts_in(const RunSummary& run, const std::vector<std::size_t>& reports) {
  std::vector<std::size_t> restarts;
  for (std::size_t i = 1; i < run.attempts.size(); ++i) {
    const auto iteration = [&](std::size_t at) { return run.reports[reports[at]].iteration; };
    std::optional<std::size_t> first;
    for (std::size_t at = 0; at < reports.size(); ++at)
      if (iteration(at) > run.attempts[i].first_iteration && (!first || iteration(at) < iteration(*first))) first = at;
    if (first) restarts.push_back(*first);
  }
  return restarts;
}

std::optional<std::size_t> best_in(const RunCurves& curves, const std::vector<std::size_t>& reports) {
  if (curves.best == nullptr) return std::nullopt;
  const auto found = std::ranges::find(reports, static_cast<std::size_t>(curves.best - curves.run->reports.data()));
  return found != reports.end() ? std::optional(static_cast<std::size_t>(found - reports.begin())) : std::nullopt;
}

/// Returns a series with at most about `max_points` points. Points with a mark are always kept.
Series thinned_series(const RunCurves& curves, const std::vector<std::size_t>& reports, const std::vector<double>& y,
                      std::size_t max_points, bool has_marks) {
  std::vector<Point> points;
  for (std::size_t at = 0; at < y.size(); ++at) points.push_back({static_cast<double>(at), y[at]});
  std::set<std::size_t> kept;
  for (const auto& point : thinned(points, max_points)) kept.insert(static_cast<std::size_t>(point.x));
  const auto restarts = has_marks ? restarts_in(*curves.run, reports) : std::vector<std::size_t>{};
  const auto best = has_marks ? best_in(curves, reports) : std::nullopt;
  kept.insert(restarts.begin(), restarts.end());
  if (best) kept.insert(*best);
  Series series{.name = curves.run->record.name, .x = {}, .y = {}, .style = curves.style};
  series.x.resize(curves.x.size());
  for (const auto at : kept) {
    for (std::size_t axis = 0; axis < curves.x.size(); ++axis) series.x[axis].push_back(curves.x[axis][reports[at]]);
    series.y.push_back(y[at]);
  }
  const auto index = [&](std::size_t at) { return static_cast<std::size_t>(std::distance(kept.begin(), kept.find(at))); };
  for (const auto restart : restarts) series.restarts.push_back(index(restart));
  if (best) series.best = index(*best);
  return series;
}

void add_series(Chart& chart, const RunCurves& curves, const std::string& metric, double smoothing,
                std::size_t max_points) {
  const auto values = values_of(curves, metric);
  if (values.reports.empty() && values.not_finite == 0) return;
  auto series = thinned_series(curves, values.reports, values.y, max_points, true);
  if (smoothing > 0) {
    series.is_faint = true;
    chart.series.push_back(std::move(series));
    series = thinned_series(curves, values.reports, smoothed(values.y, smoothing), max_points, false);
  }
  series.not_finite = values.not_finite;
  chart.series.push_back(std::move(series));
}

}  // namespace

std::vector<double> x_values(const RunSummary& run, const std::string& x_axis) {
  std::vector<double> values;
  double seconds = 0;
  for (const auto& report : run.reports) {
    seconds += report.number("_time_this_iter_s").value_or(0);
    auto value = report.number(x_axis);
    if (x_axis == "iteration" && !value) value = static_cast<double>(report.iteration);
    if (x_axis == "time") value = seconds;
    if (x_axis == "step" && !value) value = report.number("_step");
    values.push_back(value.value_or(NAN));
  }
  return values;
}

std::vector<std::string> own_metrics(std::span<const RunSummary> runs) { return without_counters(numbers_in(runs)); }

void check_metrics_and_axes(std::span<const RunSummary> runs, const MetricChartOptions& options) {
  const auto known = numbers_in(runs);
  if (known.empty()) throw UsageError("nothing to show: the runs have no reports");
  for (const auto& metric : options.metrics)
    if (std::ranges::count(known, metric) == 0)
      throw UsageError(
          fmt::format("no report has a number '{}'{}; valid: {}", metric, did_you_mean(metric, known), join(known)));
  auto own = without_counters(known);
  if (options.x_axes.size() == 1) std::erase(own, options.x_axes.front());
  if (options.metrics.empty() && own.empty())
    throw UsageError("the reports have no metrics other than counters and the x-axis; name one with --metrics: " +
                     join(known));
  for (const auto& x_axis : options.x_axes) {
    const auto has_values = [&](const RunSummary& run) {
      return std::ranges::any_of(x_values(run, x_axis), [](double value) { return !std::isnan(value); });
    };
    if (std::ranges::any_of(runs, has_values)) continue;
    const auto* advice = x_axis == "step" ? "; metrics.detailed = true records the step of each report" : "";
    throw UsageError(
        fmt::format("no report has '{}' for the x-axis{}; valid: iteration, time, {}", x_axis, advice, join(known)));
  }
}

MetricCharts metric_charts(std::span<const RunSummary> runs, const MetricChartOptions& options) {
  MetricCharts result;
  auto metrics = options.metrics;
  if (metrics.empty()) {
    metrics = own_metrics(runs);
    if (options.x_axes.size() == 1) std::erase(metrics, options.x_axes.front());
    result.omitted_metrics = metrics.size() - std::min(metrics.size(), options.max_charts);
    metrics.resize(metrics.size() - result.omitted_metrics);
  }
  std::vector<RunCurves> chosen;
  const auto shown_runs = options.are_ranked ? runs.first(std::min(runs.size(), options.max_runs)) : runs;
  for (const auto i : chosen_runs(shown_runs, options.max_runs)) {
    chosen.push_back({&runs[i], i, options.are_ranked && i > 0 ? nullptr : runs[i].best(), {}});
    for (const auto& x_axis : options.x_axes) chosen.back().x.push_back(x_values(runs[i], x_axis));
  }
  const auto max_points = std::clamp(options.max_total_points / std::max<std::size_t>(1, metrics.size() * chosen.size()),
                                     options.min_points, options.max_points);
  for (const auto& metric : metrics) {
    Chart chart{.title = metric, .x_titles = {}, .series = {}};
    for (const auto& x_axis : options.x_axes) chart.x_titles.push_back(x_axis == "time" ? "seconds of training" : x_axis);
    for (const auto& curves : chosen) add_series(chart, curves, metric, options.smoothing, max_points);
    if (chosen.size() < runs.size()) chart.note = fmt::format("{} of {} runs are shown.", chosen.size(), runs.size());
    result.charts.push_back(std::move(chart));
  }
  return result;
}

}  // namespace trainrt::view
