#pragma once
#include <span>
#include <string>

#include "view/curves/step_history.hpp"
#include "view/page/usage_section.hpp"
#include "view/summary/failure_excerpts.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// The contents of the page of one run.
struct RunView {
  RunSummary summary;
  StepHistory steps;
  std::vector<AttemptUsage> usage;  ///< attempts with rank records only, oldest first
  std::vector<FailureExcerpt> failures;
};

/// Reads the other contents of the page from the run directory. Throws StorageError if that fails.
RunView view_of(RunSummary summary);

/// Returns the page of one run: an HTML file that needs no other file and no network. `created`: the current time (UTC),
/// which the page shows. Pure function.
std::string page_of(const RunView& run, const std::string& created);

/// Returns the page that compares several runs. `title`: for example the name of the sweep. Pure function.
std::string page_of(std::span<const RunSummary> runs, const std::string& title, const std::string& created);

}  // namespace trainrt::view::page
