#pragma once
#include <span>

#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns a section with the curves and a table of the metrics of a run.
Section metric_section(const RunSummary& run, PageCharts& charts);

/// Returns a chart for each metric with the curves of all runs, and the controls of these charts. `are_ranked`: see
/// MetricChartOptions.
Markup curves_of(std::span<const RunSummary> runs, PageCharts& charts, bool are_ranked = false);

}  // namespace trainrt::view::page
