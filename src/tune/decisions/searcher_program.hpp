#pragma once
#include <cstdint>
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Runs tune.searcher_program to get the values of a trial. The program reads question_of() from standard input and
/// prints a JSON object of keys and values. It is started for each trial, so it needs no state. Throws Error with the
/// output of the program if it fails, takes longer than ten minutes, or returns a value outside of the space.
Params ask_searcher_program(const Sweep& sweep, std::uint64_t trial, const History& history);

/// Returns the question as one line of JSON: {"metric", "mode", "seed", "trial", "space": {KEY: {"type":
/// "real"|"whole", "low", "high", "step", "log"} or {"type": "choice", "values"}}, "trials": [{"trial", "state",
/// "params", "value", "reports"}]}. The type "whole" is an integer below "high". "value" is the best metric so far, or
/// null. Grids are omitted, because all of their combinations are tried.
std::string question_of(const Sweep& sweep, std::uint64_t trial, const History& history);

/// Parses the answer of the searcher program, and adds the values of the grids. Throws Error if the answer is invalid.
Params params_in(const std::string& answer, const Sweep& sweep, std::uint64_t trial);

}  // namespace trainrt::tune
