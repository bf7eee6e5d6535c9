#pragma once
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// Returns a table with one row per run: its state, the keys of [loop] that differ between the runs, and the metrics of its
/// best report (by checkpoint.score_attribute), or else of its last one.
std::string comparison_table(const std::vector<view::RunSummary>& runs);

}  // namespace trainrt::cli
