#pragma once
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "config/run_spec.hpp"

namespace trainrt::cli {

/// Runs `ranks` ranks of this program on this node, with `words`, and starts them again after a failure, up to
/// failure.max_failures times. Stop signals are passed on to them. Returns the exit code: that of the last attempt, or 70
/// if it is given up.
ExitCode run_on_this_node(const config::RunSpec& spec, int ranks, const std::vector<std::string>& words);

}  // namespace trainrt::cli
