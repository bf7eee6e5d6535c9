#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace trainrt {

/// The result of run_child(): the program's exit code and the beginning of its output.
struct ChildOutput {
  /// Exit code as a shell reports it: 128 + N if signal N ended the program, 127 if the program could not be started.
  int exit_code = 0;
  std::string text;  ///< the first 1 MiB of the output; the reason if the program could not be started
};

/// Selects the handling of a program's standard error in run_child(): discard it, or add it to ChildOutput::text.
enum class ChildErrors { dropped, with_output };

/// Runs a program, waits for its end and returns its exit code and output. `command` is the command line; its first word
/// is searched for in PATH, and no shell is used.
///
/// If the program does not end within `limit_seconds`, or if another thread sets `cancelled`, the program's process group
/// is killed, and the result is nullopt. The function then waits at most a second for the end of the killed program.
///
/// The program reads /dev/null and inherits no open file except its output. Thread-safe.
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     const std::atomic<bool>& cancelled, ChildErrors errors = ChildErrors::dropped);
std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     ChildErrors errors = ChildErrors::dropped);

}  // namespace trainrt
