#pragma once
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// Returns a table with one row per run. A row has the state, the keys of [loop] that differ between the runs, and the
/// metrics of the best report (by checkpoint.score_attribute). Without a best report, it has the metrics of the last
/// one.
std::string comparison_table(const std::vector<view::RunSummary>& runs);

}  // namespace trainrt::cli
