#pragma once
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// Runs side by side, as a table: how each stands, the [loop] keys that they do not have alike, and the metrics of its best
/// report (by checkpoint.score_attribute), or of its last.
std::string comparison_of(const std::vector<view::RunSummary>& runs);

}  // namespace trainrt::cli
