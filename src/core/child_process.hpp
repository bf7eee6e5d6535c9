#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace trainrt {

/// What a small program printed on its standard output; at most 1 MiB.
struct ChildOutput {
  int exit_code = 0;  ///< 128 + N where signal N ended it
  std::string text;
};

/// Runs a program (found on the PATH, no shell) with no input, no standard error and none of this process's open files, and
/// waits for it: nullopt where it cannot be started, takes longer than `limit_seconds`, or `cancelled` becomes true
/// meanwhile; it is killed with its process group then. From any thread.
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     const std::atomic<bool>& cancelled);
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds);

}  // namespace trainrt
