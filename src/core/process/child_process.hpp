#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace trainrt {

/// The exit code and the beginning of the output of a program that run_child() ran.
struct ChildOutput {
  int exit_code = 0;  ///< as a shell reports it: 128 + N if signal N ended the program, 127 if it could not be started
  std::string text;   ///< at most 1 MiB; the reason if the program could not be started
};

/// Selects where run_child() leads the standard error of a program.
enum class ChildErrors { dropped, with_output };

/// Runs `command` (without a shell; its first word is searched for in PATH) and returns its exit code and output. Returns
/// nullopt if the program does not end within `limit_seconds`, or if `cancelled` becomes true; then the program's process
/// group is killed. A process that the kernel does not let end is not waited for.
///
/// The program reads /dev/null and inherits no open file but its output. Any thread may call it.
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     const std::atomic<bool>& cancelled, ChildErrors errors = ChildErrors::dropped);
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     ChildErrors errors = ChildErrors::dropped);

}  // namespace trainrt
