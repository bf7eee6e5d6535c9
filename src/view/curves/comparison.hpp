#pragma once
#include <span>
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::view {

/// Returns the [loop] keys that have different values in the runs, or that some runs do not have. The keys are in
/// alphabetical order. Keys of the Python package that describe the script are left out.
std::vector<std::string> differing_keys(std::span<const RunSummary> runs);

/// Returns the names of the metrics in the last report of each run, in order of appearance. The runtime's own metrics
/// are left out.
std::vector<std::string> metric_names(std::span<const RunSummary> runs);

/// Returns whether the Python package has set the [loop] key to describe the script: the name of its train function, or a
/// config without values.
bool describes_script(const std::string& key);

/// Returns RunSummary::best(), or the last report if no report has a score, or nullptr if there are no reports.
const metrics::Record* shown_report_of(const RunSummary& run);

}  // namespace trainrt::view
