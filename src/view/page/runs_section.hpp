#pragma once
#include <span>

#include <nlohmann/json_fwd.hpp>

#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// The runs side by side: state, the [loop] keys that differ, the metrics of the best or last report.
Section runs_section(std::span<const RunSummary> runs);

/// Where the time of each went, as bars.
Section time_of_runs_section(std::span<const RunSummary> runs);

/// An axis for each of those keys and metrics, a line for each run; the script draws it, and lets parts of axes be chosen.
Section parallel_section(std::span<const RunSummary> runs);

/// For the script: {"axes": [titles], "tried": how many of them are keys, "runs": [{"name", "values"}]}; null: no value.
nlohmann::ordered_json parallel_json(std::span<const RunSummary> runs);

}  // namespace trainrt::view::page
