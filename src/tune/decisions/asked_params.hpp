#pragma once
#include <cstdint>
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Where tune.searcher_program says that a trial lies. It gets question_of() on its standard input, and prints a JSON
/// object of keys and values; it is started for each trial anew, so that it has nothing to remember. Error with what it
/// printed if it fails, takes longer than ten minutes, or says what does not lie in the space.
Params asked_params(const Sweep& sweep, std::uint64_t trial, const History& history);

/// {"metric", "mode", "seed", "trial", "space": {KEY: {"type": "real"|"whole", "low", "high", "step", "log"} or {"type":
/// "choice", "values"}}, "trials": [{"trial", "state", "params", "value", "reports"}]}, in a line. Grids are left out: each
/// of their combinations is tried in any case. "whole": below "high". "value": the metric's best so far, or null.
std::string question_of(const Sweep& sweep, std::uint64_t trial, const History& history);

/// Checks an answer, and adds the grids' values.
Params params_in(const std::string& answer, const Sweep& sweep, std::uint64_t trial);

}  // namespace trainrt::tune
