#pragma once
#include <span>

#include <nlohmann/json_fwd.hpp>

#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns a section with a table of the runs: the state, the [loop] keys that differ between runs, and the metrics of
/// the best or the last report.
Section runs_section(std::span<const RunSummary> runs);

/// Returns a section that shows how each run used its wall time, as bars.
Section time_of_runs_section(std::span<const RunSummary> runs);

/// Returns a section with an empty figure. In the figure, the script of the page draws parallel coordinates: an axis
/// for each differing key and each metric, and a line for each run.
Section parallel_section(std::span<const RunSummary> runs);

/// Returns the values of the parallel coordinates for the script of the page: {"axes": [titles], "runs": [{"name",
/// "values"}]}. A missing value is null. The counters epoch, step and iteration have no axis.
nlohmann::ordered_json parallel_json(std::span<const RunSummary> runs);

/// Returns the value of a config key as a JSON number, or as a string if it is not a finite number.
nlohmann::ordered_json json_of_value(const std::string& value);

/// Returns the metric in the report that shown_report_of() selects; null if it is missing or not finite.
nlohmann::ordered_json value_of_metric(const RunSummary& run, const std::string& metric);

}  // namespace trainrt::view::page
