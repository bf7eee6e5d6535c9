#pragma once
#include <span>
#include <string>

#include "view/curves/step_history.hpp"
#include "view/page/usage_section.hpp"
#include "view/summary/failure_excerpts.hpp"
#include "view/summary/run_summary.hpp"
#include "view/summary/sweep_summary.hpp"

namespace trainrt::view::page {

/// The data of a run that the page of the run shows.
struct RunView {
  RunSummary summary;
  StepHistory steps;
  std::vector<AttemptUsage> usage;  ///< attempts that have rank records, oldest first
  std::vector<FailureExcerpt> failures;
};

/// Returns the RunView of a run: `summary`, and data that are read from the run directory. Throws StorageError if a
/// file cannot be read.
RunView view_of(RunSummary summary);

/// Returns the page of one run: an HTML file that needs no other file and no network. `created`: the current time (UTC),
/// which the page shows. Pure function.
std::string page_of(const RunView& run, const std::string& created);

/// Returns the page of a sweep, an HTML file. `sweep` and `runs` are sorted by rank(). `created`: the current time (UTC).
/// Pure function.
std::string page_of(const SweepSummary& sweep, std::span<const RunSummary> runs, const std::string& title,
                    const std::string& created);

/// Returns the page that compares several runs, an HTML file. `title` is, for example, the name of the folder. `created`
/// is the current time (UTC). Pure function.
std::string page_of(std::span<const RunSummary> runs, const std::string& title, const std::string& created);

}  // namespace trainrt::view::page
