#pragma once
#include <span>
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::view {

// Functions that compare runs.

/// Returns in alphabetical order the [loop] keys that have different values in the runs, or that some runs do not have.
std::vector<std::string> differing_keys(std::span<const RunSummary> runs);

/// Returns the metrics in the last reports of the runs, except the runtime's own, in order of appearance.
std::vector<std::string> metric_names(std::span<const RunSummary> runs);

/// Returns the best report (RunSummary::best()) if the reports have a score, else the last report; nullptr without reports.
const metrics::Record* shown_report_of(const RunSummary& run);

}  // namespace trainrt::view
