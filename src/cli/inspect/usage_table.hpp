#pragma once
#include <string>

#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// What a run's attempts used, a row each and one of all, under the title "used"; "" if none has told.
std::string usage_table(const view::RunSummary& run);

}  // namespace trainrt::cli
