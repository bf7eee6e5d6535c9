#pragma once
#include <span>
#include <string>

#include "view/curves/step_history.hpp"
#include "view/page/use_section.hpp"
#include "view/summary/last_words.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// All that the page of a run shows.
struct RunView {
  RunSummary summary;
  StepHistory steps;
  std::vector<AttemptUse> use;  ///< of the attempts that have it, oldest first
  std::vector<LastWords> last_words;
};

/// Reads what belongs to a run besides its summary.
RunView view_of(RunSummary summary);

/// The page of a run: one HTML file that needs nothing else. Without the charting library (has_charts()) its pictures stand
/// still. `made` is the time of making it, UTC. Pure.
std::string page_of(const RunView& run, const std::string& made);

/// The page of several runs. `title`: what they are, a sweep's folder, say. Pure.
std::string page_of(std::span<const RunSummary> runs, const std::string& title, const std::string& made);

/// Whether the build found the charting library.
bool has_charts();

}  // namespace trainrt::view::page
