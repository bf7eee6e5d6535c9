#pragma once
#include <span>
#include <string>
#include <vector>

#include "view/page/chart.hpp"
#include "view/page/rank_times.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Steps a second, what a step is made of, and the slowest rank beside the median: over time and steps. None without
/// windows. Pure.
std::vector<Chart> step_charts(std::span<const StepWindow> windows);

/// Iterations a second of training; and if reports have it (_time_data_s, _time_checkpoint_s), the share of it that went
/// into waiting for data, and how long training stood still for saves. None with fewer than two reports. Pure.
std::vector<Chart> report_charts(const RunSummary& run);

/// Of a number that grows over an attempt, and begins anew with the next: what each report added; NaN if it does not have
/// it. Pure.
std::vector<double> increments_of(const RunSummary& run, const std::string& key);

}  // namespace trainrt::view::page
