#pragma once
#include <span>
#include <string>
#include <vector>

#include "view/charts/chart.hpp"
#include "view/curves/step_windows.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view {

/// Returns charts of the steps per second, of the work in a step, and of the slowest rank and the median rank, over the
/// time and over the steps. The result is empty without windows. Pure function.
std::vector<Chart> step_charts(std::span<const StepWindow> windows);

/// Returns a chart of the iterations per second; if the reports have _time_data_s and _time_checkpoint_s, also charts of
/// the share of time spent waiting for data and of the time in which saves stopped the training. The result is empty with
/// fewer than two reports. Pure function.
std::vector<Chart> report_charts(const RunSummary& run);

/// Returns by report the increase of the sum `key` since the previous report, or the sum itself after a restart, which
/// resets it; NaN for a report without it. Pure function.
std::vector<double> increments_of(const RunSummary& run, const std::string& key);

}  // namespace trainrt::view
