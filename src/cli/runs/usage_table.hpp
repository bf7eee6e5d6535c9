#pragma once
#include <string>

#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// Returns a table of the resources that a run used, titled "used", with one row per attempt and one for the sum; "" if no
/// attempt recorded its usage.
std::string usage_table(const view::RunSummary& run);

}  // namespace trainrt::cli
