#pragma once
#include <trainrt/error.hpp>

namespace trainrt {

/// Whether a process that ended with this exit code may succeed, or get further, if it is started again as it is. Exit
/// codes are how errors say so (ExitCode): whoever starts processes again asks this. Codes that are not trainrt's, and
/// those of signals, may be of a moment.
constexpr bool restart_may_help(int exit_code) {
  return exit_code != static_cast<int>(ExitCode::usage) && exit_code != static_cast<int>(ExitCode::no_progress) &&
         exit_code != static_cast<int>(ExitCode::finished);
}

}  // namespace trainrt
