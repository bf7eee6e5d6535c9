#pragma once
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace trainrt::program {

/// A process and those that it has started, and they, parents first; as they are found at this moment, from /proc. At most
/// 1,000.
std::vector<pid_t> with_descendants(pid_t process);

/// All that this process can see at this moment.
std::vector<pid_t> all_processes();

/// Where a process stands among others.
struct Kinship {
  pid_t parent = 0;
  pid_t group = 0;
};
/// Nothing if it has ended.
std::optional<Kinship> kinship(pid_t process);

/// Whether it has a handler for the signal.
bool catches(pid_t process, int signal);

/// The CPU time that a process has used so far, with that of its children that have ended; in clock ticks, 0 if it is gone.
long cpu_ticks(pid_t process);

/// False if it has ended, whether somebody has asked for its exit code or not.
bool runs(pid_t process);

/// Whether it is an interpreter of Python, by the name of its executable.
bool is_python(pid_t process);

/// Its words, for people; "" if it is gone.
std::string command_line(pid_t process);

}  // namespace trainrt::program
