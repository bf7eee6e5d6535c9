#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "view/page/chart.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

struct CurveLimits {
  std::size_t points_of_all = 40000;  ///< of all curves together, so that a page stays small
  std::size_t points_of_curve = 2000, least_points_of_curve = 60;
  std::size_t charts = 60;  ///< metrics that have one
  std::size_t curves = 60;  ///< runs in a chart: the best, or the first
};

struct CurveCharts {
  std::vector<Chart> charts;        ///< a metric each, by iteration, time of training, and step if reports have it
  std::size_t metrics_without = 0;  ///< that are beyond the limit
};

/// The metrics that the runs themselves reported, with restarts and best report. Of many points the lowest and the highest
/// of each stretch are kept. Pure.
CurveCharts curve_charts(std::span<const RunSummary> runs, const CurveLimits& limits = {});

}  // namespace trainrt::view::page
