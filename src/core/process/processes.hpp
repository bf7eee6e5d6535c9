#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace trainrt {

// Facts about processes of this node, read from /proc at the time of the call. A process may end at any time; the functions
// then return the value for "unknown" or "ended".

/// Returns a process and its descendants, parents first; at most 1,000.
std::vector<pid_t> with_descendants(pid_t process);

/// Returns the same as with_descendants(), also on a kernel without lists of children (CONFIG_PROC_CHILDREN). There it
/// reads the parents of all processes of the node.
std::vector<pid_t> process_tree(pid_t process);

/// Returns all processes that this process can see.
std::vector<pid_t> all_processes();

/// Returns the processes that were started with all of these variables ("NAME=value") in their environment, as far as this
/// process may read it; also processes that have left their group and their session.
std::vector<pid_t> processes_with(std::span<const std::string> variables);

/// The parent and the group of a process.
struct Kinship {
  pid_t parent = 0;
  pid_t group = 0;
};
/// Returns the parent and the group of a process; nullopt if it has ended.
std::optional<Kinship> kinship(pid_t process);

/// Returns the start time of a process in clock ticks since boot; 0 if it does not run. Process number and start time
/// together identify a process: numbers are reused.
unsigned long long process_start_time(pid_t process);

/// Returns the age of this process in seconds.
double seconds_since_process_start();

/// Returns the value of a line of /proc/PID/status, for example of "PPid:"; "" if the line is missing.
std::string status_value(pid_t process, std::string_view key);

/// Returns whether the process has a handler for the signal.
bool catches(pid_t process, int signal);

/// Returns the CPU time of a process and of its children that have ended, in clock ticks; 0 if the process is gone.
long cpu_ticks(pid_t process);

/// Bytes that a process and its children that have ended have read from storage and written to it; -1: unknown.
struct StorageBytes {
  std::int64_t read = -1;
  std::int64_t written = -1;
};
StorageBytes storage_bytes(pid_t process);

/// Bytes of resident memory of a process; -1: unknown, or the process is gone.
struct ProcessMemory {
  std::int64_t now = -1;
  std::int64_t peak = -1;
};
ProcessMemory memory_of_process(pid_t process);

/// Returns the process's proportional set size in bytes (Pss: a page of several processes is divided among them); -1:
/// unknown. The kernel takes about a millisecond per GiB.
std::int64_t proportional_memory(pid_t process);

/// Returns whether the process runs. A zombie does not.
bool runs(pid_t process);

/// Returns whether the executable's name is that of a Python interpreter.
bool is_python(pid_t process);

/// Returns the command line with blanks between the words; "" if the process is gone.
std::string command_text(pid_t process);

}  // namespace trainrt
