#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace trainrt {

/// What a small program printed; at most 1 MiB.
struct ChildOutput {
  int exit_code = 0;  ///< as a shell has it: 128 + N if signal N ended it, 127 if it could not be started
  std::string text;   ///< of 127: why
};

/// What becomes of a program's standard error.
enum class ChildErrors { dropped, with_output };

/// Runs a program (found on the PATH, no shell) with no input and none of this process's open files, and waits for it:
/// nullopt if it takes longer than `limit_seconds`, or `cancelled` becomes true meanwhile. It is killed with its process
/// group then, and left behind if it hangs in the kernel, if no signal reaches it. From any thread.
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     const std::atomic<bool>& cancelled, ChildErrors errors = ChildErrors::dropped);
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     ChildErrors errors = ChildErrors::dropped);

}  // namespace trainrt
