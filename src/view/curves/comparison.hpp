#pragma once
#include <span>
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::view {

// What sets runs side by side.

/// [loop] keys that the runs do not have alike: what was tried. In their order.
std::vector<std::string> differing_keys(std::span<const RunSummary> runs);

/// The runs' own metrics, as their last reports have them, in the order in which they appear.
std::vector<std::string> metric_names(std::span<const RunSummary> runs);

/// The run's best report if its reports are scored, else its last; nullptr if there is none.
const metrics::Record* shown_report_of(const RunSummary& run);

}  // namespace trainrt::view
