#pragma once
#include <string>
#include <vector>

#include <trainrt/error.hpp>

namespace trainrt::cli {

/// Runs the command that the words of the command line name, prints its error if it fails, and returns the exit code of the
/// program. Throws nothing.
ExitCode dispatch(std::vector<std::string> words);

}  // namespace trainrt::cli
