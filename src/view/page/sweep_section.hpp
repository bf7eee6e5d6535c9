#pragma once
#include <span>

#include <nlohmann/json_fwd.hpp>

#include "view/page/section.hpp"
#include "view/summary/sweep_summary.hpp"

namespace trainrt::view::page {

// Sections about a sweep whose trials are sorted by rank().

/// Returns the metric, the number of trials in each state and the directory of the sweep, for the head of the page.
std::string description_of(const SweepSummary& sweep);

/// Returns a section with the best trial: its metric, its values and its path.
Section best_trial_section(const SweepSummary& sweep);

/// Returns a section with a table of all trials, the best first: the values of [tune.space], the metric, the other metrics
/// of the best report, and the reason of the trial's end. `runs`: runs of the trials that have begun.
Section trials_section(const SweepSummary& sweep, std::span<const RunSummary> runs);

/// Returns the values of the parallel coordinates in the format of parallel_json() of runs_section.hpp. Each key of
/// [tune.space] that differs between trials has an axis, and so does the metric of the sweep. If the sweep has no
/// metric, each metric of its runs has an axis.
nlohmann::ordered_json parallel_json(const SweepSummary& sweep, std::span<const RunSummary> runs);

}  // namespace trainrt::view::page
