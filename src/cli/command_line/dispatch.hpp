#pragma once
#include <string>
#include <vector>

#include <trainrt/error.hpp>

namespace trainrt::cli {

/// Runs the command that the words of the command line name, and prints its error if it fails. Returns the exit code of
/// the program. Throws no exceptions.
ExitCode dispatch(std::vector<std::string> words);

}  // namespace trainrt::cli
