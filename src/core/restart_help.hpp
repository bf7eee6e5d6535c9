#pragma once
#include <trainrt/error.hpp>

namespace trainrt {

/// Environment variable that `trainrt supervise` sets for the ranks. The supervising process then reports whether it
/// restarts the step, requeues the job or gives up, and what the user has to do. The ranks give no such advice.
constexpr const char* supervised_variable = "TRAINRT_SUPERVISED";
/// Environment variables for ranks, set by the process that restarts them. `failures_variable`: number of failures so far.
/// `opened_variable`: path of the file in which rank 0 records the run that it has opened.
constexpr const char* failures_variable = "TRAINRT_FAILURES";
constexpr const char* opened_variable = "TRAINRT_OPENED";

/// Returns whether restarting a process may help after it exited with `exit_code` (ExitCode): the restarted process may
/// succeed or make more progress. Exit codes that trainrt does not define, and those of signals, may have a temporary
/// cause, so the result is true for them.
constexpr bool restart_may_help(int exit_code) {
  return exit_code != static_cast<int>(ExitCode::usage) && exit_code != static_cast<int>(ExitCode::no_progress) &&
         exit_code != static_cast<int>(ExitCode::finished);
}

}  // namespace trainrt
