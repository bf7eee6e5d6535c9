#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "view/charts/chart.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view {

struct MetricChartOptions {
  std::vector<std::string> metrics = {};  ///< metrics with one chart each; empty: the first `max_charts` of own_metrics()
  std::vector<std::string> x_axes = {"iteration"};  ///< names of the x-axes; see x_values()
  double smoothing = 0;                             ///< weight of the previous average, from 0 to below 1; 0: no smoothing
  std::size_t max_charts = 60;
  std::size_t max_runs = 60;  ///< in a chart; if there are more runs, those with the best scores are shown
  std::size_t max_points = 2000, min_points = 60;  ///< per series
  std::size_t max_total_points = 40000;            ///< in all series together; each series may have `min_points`
  /// True if the runs are sorted, the best first. The charts then show the first `max_runs` runs, and mark only the
  /// best report of the first run.
  bool are_ranked = false;
};

struct MetricCharts {
  std::vector<Chart> charts;
  std::size_t omitted_metrics = 0;  ///< number of metrics that were left out due to `max_charts`
};

/// Returns a chart for each metric, with a series for each run. A run has the same style in all charts. Restarts and
/// the best report are marked. Values that are not finite are left out. Long series are thinned, but keep their extreme
/// values and marks. Pure function.
MetricCharts metric_charts(std::span<const RunSummary> runs, const MetricChartOptions& options);

/// Throws UsageError, which lists the valid names, if no report has a value for a metric or an x-axis in `options`, or
/// if there is nothing to show.
void check_metrics_and_axes(std::span<const RunSummary> runs, const MetricChartOptions& options);

/// Returns the x value of each report, or NaN if the report has no such value. `x_axis` is "iteration", "time" (seconds
/// of training before the report), "step" or the name of a metric. Pure function.
std::vector<double> x_values(const RunSummary& run, const std::string& x_axis);

/// Returns the names of the numeric values in the reports, in order of appearance. The runtime's own values and the
/// counters epoch, step and iteration are left out. Pure function.
std::vector<std::string> own_metrics(std::span<const RunSummary> runs);

}  // namespace trainrt::view
