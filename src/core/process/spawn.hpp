#pragma once
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/descriptor.hpp"
#include "core/process/child_environment.hpp"

namespace trainrt {

/// Owns both ends of a pipe; they are closed on exec. If the system has no pipe left, the constructor sets errno and leaves
/// both ends empty.
struct Pipe {
  Pipe();
  explicit operator bool() const { return static_cast<bool>(read_end); }
  Descriptor read_end, write_end;
};

/// A descriptor number in SpawnOptions that means /dev/null.
inline constexpr int null_device = -1;

/// The program that spawn() starts, and the files, signals and environment variables that the program inherits.
struct SpawnOptions {
  /// The command line. If `executable` is empty and the first word has no '/', that word is searched for in PATH.
  std::vector<std::string> command;
  std::string executable = {};                ///< path of the program, if it differs from the first word
  std::optional<Variables> environment = {};  ///< environment variables; default: those of this process
  int input = null_device;                    ///< descriptor for standard input; not owned
  int output = STDOUT_FILENO;                 ///< descriptor for standard output; not owned
  int error = STDERR_FILENO;                  ///< descriptor for standard error; not owned
  std::vector<int> kept_files = {};           ///< further descriptors to inherit, under the same numbers
  bool closes_other_files = true;             ///< false: other files without FD_CLOEXEC are also inherited
  std::vector<int> default_signals = {};      ///< signals to reset to their default action even if ignored
  std::vector<int> ignored_signals = {};      ///< signals that the program ignores when it starts
  int signal_at_parent_end = 0;               ///< signal sent to the program when the calling thread ends; 0: no signal
};

/// Starts a program in its own process group, so that Ctrl-C in a terminal does not reach the program. Returns the process
/// id, or -1 with errno. The caller must wait for the process with waitpid(2). Thread-safe.
///
/// The program starts with no signal blocked. Signals that this process ignores (nohup) and SpawnOptions::ignored_signals
/// are ignored, except SpawnOptions::default_signals; all other signals have their default action.
pid_t spawn(const SpawnOptions& options);

/// Returns the numbers of all signals, for SpawnOptions::default_signals.
std::vector<int> all_signals();

/// Converts a status of waitpid(2) to the exit code that a shell reports: 128 + N if signal N ended the process.
int shell_exit_code(int wait_status);

/// Returns the path of the executable file that execvp(3) runs for the command `name`, searched for in PATH; "" if there is
/// no such file.
std::string find_executable(const std::string& name);

}  // namespace trainrt
