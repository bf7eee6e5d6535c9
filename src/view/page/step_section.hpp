#pragma once
#include "view/curves/step_history.hpp"
#include "view/page/rank_times.hpp"
#include "view/page/section.hpp"
#include "view/page/use_section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// How fast the run went, what a step was made of, what it took on each rank over time, and who held the others up. `use`
/// tells the nodes of ranks.
Section step_section(const RunSummary& run, const StepHistory& history, const RankTimes& times,
                     const std::vector<AttemptUse>& use, Drawings& drawings);

}  // namespace trainrt::view::page
