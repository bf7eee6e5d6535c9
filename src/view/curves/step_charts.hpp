#pragma once
#include <span>
#include <string>
#include <vector>

#include "view/charts/chart.hpp"
#include "view/curves/step_windows.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view {

/// Returns charts of the steps per second, of the times of the kinds of work in a step, and of the step times of the
/// slowest rank and the median rank. The x-axes are time and steps. Returns no charts if there are no windows. Pure
/// function.
std::vector<Chart> step_charts(std::span<const StepWindow> windows);

/// Returns a chart of the iterations per second. If the reports have _time_data_s and _time_checkpoint_s, also returns
/// charts of the share of the time spent waiting for data and of the time in which saves stopped the training. Returns
/// no charts if there are fewer than two reports. Pure function.
std::vector<Chart> report_charts(const RunSummary& run);

/// Returns, for each report, the increase of the value `key` since the previous report. The runtime sums up this value,
/// and a restart resets the sum; the first report after a restart therefore has the sum itself. NaN for a report
/// without the value. Pure function.
std::vector<double> increments_of(const RunSummary& run, const std::string& key);

}  // namespace trainrt::view
