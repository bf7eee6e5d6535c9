#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "view/charts/chart.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view {

struct MetricChartOptions {
  std::vector<std::string> metrics = {};            ///< one chart each; empty: the first `max_charts` of own_metrics()
  std::vector<std::string> x_axes = {"iteration"};  ///< see x_values()
  double smoothing = 0;                             ///< weight of the previous average, from 0 to below 1; 0: no smoothing
  std::size_t max_charts = 60;
  std::size_t max_runs = 60;                       ///< in a chart: if there are more, those with the best scores
  std::size_t max_points = 2000, min_points = 60;  ///< per series
  std::size_t max_total_points = 40000;            ///< of all series, unless each has `min_points`
};

struct MetricCharts {
  std::vector<Chart> charts;
  std::size_t omitted_metrics = 0;  ///< number of metrics beyond `max_charts`
};

/// Returns a chart per metric with a series per run. A run has the same style in all charts. Restarts and the best report
/// are marked. Values that are not finite are left out. Long series are thinned, but keep their extreme values and marks.
/// Pure function.
MetricCharts metric_charts(std::span<const RunSummary> runs, const MetricChartOptions& options);

/// Throws UsageError, which lists the valid names, if no report has one of the metrics or an x value of an x-axis, or if
/// there is nothing to show.
void check_metrics_and_axes(std::span<const RunSummary> runs, const MetricChartOptions& options);

/// Returns the x value of each report: its iteration, the seconds of training until then ("time"), its step, or a metric;
/// NaN for a report without that value. Pure function.
std::vector<double> x_values(const RunSummary& run, const std::string& x_axis);

/// Returns the names of the numbers in the reports, in order of appearance, except the runtime's own and the counters
/// epoch, step and iteration. Pure function.
std::vector<std::string> own_metrics(std::span<const RunSummary> runs);

}  // namespace trainrt::view
