#pragma once
#include <span>
#include <vector>

#include "view/page/chart.hpp"
#include "view/page/rank_times.hpp"
#include "view/run_summary.hpp"

namespace trainrt::view::page {

/// Steps a second, what a step is made of, and the slowest rank beside the median: over time and steps. None without
/// windows. Pure.
std::vector<Chart> step_charts(std::span<const StepWindow> windows);

/// Iterations a second of training; and the share of it that went into waiting for data, if reports have it
/// (_time_data_s). None with fewer than two reports. Pure.
std::vector<Chart> report_charts(const RunSummary& run);

}  // namespace trainrt::view::page
