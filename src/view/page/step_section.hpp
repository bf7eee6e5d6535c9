#pragma once
#include "view/curves/rank_times.hpp"
#include "view/curves/step_history.hpp"
#include "view/page/section.hpp"
#include "view/page/usage_section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns a section about the speed of the run: rates, the work in a step, step times by rank and over time, and the
/// ranks that delayed other ranks. `usage` provides the names of the ranks' nodes.
Section step_section(const RunSummary& run, const StepHistory& history, const RankTimes& times,
                     const std::vector<AttemptUsage>& usage, PageCharts& charts);

}  // namespace trainrt::view::page
