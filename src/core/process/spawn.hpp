#pragma once
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/descriptor.hpp"
#include "core/process/child_environment.hpp"

namespace trainrt {

/// A pipe whose ends are closed on exec. If the system has no pipe left, both ends are empty and errno is set.
struct Pipe {
  Pipe();
  explicit operator bool() const { return static_cast<bool>(read_end); }
  Descriptor read_end, write_end;
};

/// The value of a descriptor in SpawnOptions that means /dev/null.
inline constexpr int null_device = -1;

/// The program that spawn() starts, and the files, signals and variables that it inherits.
struct SpawnOptions {
  std::vector<std::string> command;           ///< the words; a first word without '/' is searched for in PATH
  std::optional<Variables> environment = {};  ///< default: the environment of this process
  int input = null_device;                    ///< descriptor of the standard input; not owned
  int output = STDOUT_FILENO;                 ///< the same for standard output
  int error = STDERR_FILENO;                  ///< the same for standard error
  std::vector<int> kept_files = {};           ///< further descriptors that are inherited, under the same numbers
  bool closes_other_files = true;             ///< false: files without FD_CLOEXEC are inherited, too
  std::vector<int> default_signals = {};      ///< have their default action even if this process ignores them
  int signal_at_parent_end = 0;               ///< sent to the program when the calling thread ends; 0: no signal
};

/// Starts a program in a process group of its own, so that Ctrl-C in a terminal does not reach it. Returns its process id,
/// or -1 with errno. The caller waits for the process (waitpid(2)). Any thread may call it.
///
/// The program starts with no signal blocked. Signals that this process ignores stay ignored (nohup), all others have their
/// default action.
pid_t spawn(const SpawnOptions& options);

/// The numbers of all signals, for SpawnOptions.
std::vector<int> all_signals();

/// Returns the exit code that a shell reports for a status of waitpid(2): 128 + N if signal N ended the process.
int shell_exit_code(int wait_status);

/// Returns the path of the executable file that execvp(3) runs for `name`; "" if there is no such file.
std::string find_executable(const std::string& name);

}  // namespace trainrt
