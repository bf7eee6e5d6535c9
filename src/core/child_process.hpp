#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace trainrt {

/// What a small program printed; at most 1 MiB.
struct ChildOutput {
  int exit_code = 0;  ///< as a shell has it: 128 + N where signal N ended it, 127 where it could not be started
  std::string text;   ///< of 127: why
};

/// What becomes of a program's standard error.
enum class ChildErrors { dropped, with_output };

/// Runs a program (found on the PATH, no shell) with no input and none of this process's open files, and waits for it:
/// nullopt where it takes longer than `limit_seconds`, or `cancelled` becomes true meanwhile. It is killed with its process
/// group then, and left behind where it hangs in the kernel, where no signal reaches it. From any thread.
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     const std::atomic<bool>& cancelled, ChildErrors errors = ChildErrors::dropped);
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     ChildErrors errors = ChildErrors::dropped);

}  // namespace trainrt
