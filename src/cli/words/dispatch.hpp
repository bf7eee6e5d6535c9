#pragma once
#include <string>
#include <vector>

#include <trainrt/error.hpp>

namespace trainrt::cli {

/// The whole program but for exit: picks the command and runs it; errors are said here.
ExitCode dispatch(std::vector<std::string> words);

}  // namespace trainrt::cli
