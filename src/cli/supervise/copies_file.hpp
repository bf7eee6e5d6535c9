#pragma once
#include "config/run_spec.hpp"
#include "core/descriptor.hpp"

namespace trainrt::cli {

/// The file in memory in which the ranks of this node keep copies of their State (config key failure.recovery). This
/// process keeps the file open, so the copies outlive the ranks. Processes that are started afterwards find the file
/// through an environment variable.
class CopiesFile {
 public:
  /// Creates the file if failure.recovery of `spec` asks for copies, and if all ranks run on this node: `nodes` is 1. Logs
  /// a warning if the file cannot be created; the ranks then make no copies.
  CopiesFile(const config::RunSpec& spec, int nodes);

  /// Returns whether a restart can continue from copies.
  explicit operator bool() const { return static_cast<bool>(file_); }

 private:
  Descriptor file_;
};

/// Minimum duration in seconds of an attempt after which the ranks are restarted at once if there are copies of their
/// State. Ranks that ran for a shorter time have failed at their start, and the restart follows after a pause.
inline constexpr double min_run_for_restart_at_once_s = 1;

}  // namespace trainrt::cli
