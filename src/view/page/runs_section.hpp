#pragma once
#include <span>

#include <nlohmann/json_fwd.hpp>

#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns a table of the runs: state, the [loop] keys that differ, the metrics of the best or last report.
Section runs_section(std::span<const RunSummary> runs);

/// Returns the use of the wall time of each run, as bars.
Section time_of_runs_section(std::span<const RunSummary> runs);

/// Returns an empty figure in which the script draws parallel coordinates: an axis for each differing key and each metric,
/// and a line for each run.
Section parallel_section(std::span<const RunSummary> runs);

/// Returns the values for the script: {"axes": [titles], "runs": [{"name", "values"}]}. A missing value is null.
nlohmann::ordered_json parallel_json(std::span<const RunSummary> runs);

}  // namespace trainrt::view::page
