#pragma once
#include <string>

#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// Returns a table of the resources that a run used, with the title "used": one row per attempt, and one row for the
/// sum of all attempts. Returns "" if no attempt recorded its usage.
std::string usage_table(const view::RunSummary& run);

}  // namespace trainrt::cli
