#pragma once
#include <cstdint>
#include <string>

namespace trainrt::rundir {

// Functions that return texts about the progress of a run. A train function may count steps, reports (iterations), or both;
// a count of 0 is left out.

/// Returns a point of a run as a text: "step 120, iteration 12"; "iteration 12" for a run without steps; "step 0" for the
/// beginning.
std::string point_in_words(std::int64_t step, std::int64_t iteration);

/// Returns a point of a run as a text with one number: "step 120"; "iteration 12" for a run without steps.
std::string short_point(std::int64_t step, std::int64_t iteration);

/// Returns the progress of a run as a text: "12 iterations, 120 steps", "12 iterations", "7 steps", or "no report and no
/// step".
std::string progress_in_words(std::int64_t step, std::int64_t iteration);

}  // namespace trainrt::rundir
