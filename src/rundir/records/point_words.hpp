#pragma once
#include <cstdint>
#include <string>

namespace trainrt::rundir {

// A train function may count steps, reports (iterations), or both: what it does not count is 0, and left out.

/// Returns a point of a run: "step 120, iteration 12", or "iteration 12" if there are no steps. "step 0": the beginning.
std::string point_in_words(std::int64_t step, std::int64_t iteration);

/// Returns the same by one number: "step 120", or "iteration 12" if there are no steps.
std::string short_point(std::int64_t step, std::int64_t iteration);

/// Returns how far a run has come: "12 iterations, 120 steps", "12 iterations", "7 steps", or "no report and no step".
std::string progress_in_words(std::int64_t step, std::int64_t iteration);

}  // namespace trainrt::rundir
