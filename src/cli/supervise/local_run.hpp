#pragma once
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "config/run_spec.hpp"

namespace trainrt::cli {

/// Starts `ranks` processes of this program on this node, with the arguments `words` (`trainrt -n`), and restarts them
/// after a failure, up to failure.max_failures times. Stop signals are forwarded to them. Returns the exit code of the last
/// attempt if it is one of trainrt's, otherwise 70.
ExitCode run_on_this_node(const config::RunSpec& spec, int ranks, const std::vector<std::string>& words);

}  // namespace trainrt::cli
