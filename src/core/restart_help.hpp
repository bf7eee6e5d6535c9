#pragma once
#include <trainrt/error.hpp>

namespace trainrt {

/// Returns whether the same process may succeed, or get further, if it is started again after it ended with this exit code
/// (ExitCode). Exit codes that are not trainrt's, and those of signals, may have a temporary cause.
constexpr bool restart_may_help(int exit_code) {
  return exit_code != static_cast<int>(ExitCode::usage) && exit_code != static_cast<int>(ExitCode::no_progress) &&
         exit_code != static_cast<int>(ExitCode::finished);
}

}  // namespace trainrt
