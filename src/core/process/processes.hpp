#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace trainrt {

// Queries about processes of this node. Each call reads /proc. If a process ends before or during a call, the function
// returns its value for "unknown" or "ended".

/// Returns the ids of `process` and all its descendants, parents first; at most 1,000. Requires a kernel with lists of
/// children (CONFIG_PROC_CHILDREN); otherwise returns only `process`.
std::vector<pid_t> with_descendants(pid_t process);

/// Returns the ids of `process` and all its descendants, parents first, on any kernel; at most 1,000. On a kernel without
/// lists of children (CONFIG_PROC_CHILDREN), reads the parents of all processes of the node.
std::vector<pid_t> process_tree(pid_t process);

/// Returns the ids of all processes of the node that this process can see in /proc.
std::vector<pid_t> all_processes();

/// Returns the ids of all processes that were started with all of these environment variables ("NAME=value"). A process is
/// left out if this process may not read its environment. Processes that have left their process group or session are
/// included.
std::vector<pid_t> processes_with(std::span<const std::string> variables);

/// The ids of a process's parent and process group.
struct Kinship {
  pid_t parent = 0;
  pid_t group = 0;
};
/// Returns the ids of the parent and the process group of `process`; nullopt if `process` has ended.
std::optional<Kinship> kinship(pid_t process);

/// Returns the start time of `process` in clock ticks since boot; 0 if it does not run. Process id and start time together
/// identify a process, since the kernel reuses process ids.
unsigned long long process_start_time(pid_t process);

/// Returns the seconds since the start of this process, or since the last call of begin_process_time().
double seconds_since_process_start();
/// Resets the clock of seconds_since_process_start() to 0. A standby process calls this function when it becomes a rank,
/// so that the time for which it waited is not counted. Thread-safe.
void begin_process_time();

/// Returns the value in the line of /proc/PID/status that begins with `key`, for example "PPid:"; "" if there is no such
/// line.
std::string status_value(pid_t process, std::string_view key);

/// Returns whether `process` has installed a handler for `signal`.
bool catches(pid_t process, int signal);

/// Returns the CPU time, in clock ticks, of `process` and of its children that have ended; 0 if `process` does not exist.
long cpu_ticks(pid_t process);

/// The bytes that a process has read from storage and written to storage. Its children that have ended are included. -1:
/// unknown.
struct StorageBytes {
  std::int64_t read = -1;
  std::int64_t written = -1;
};
StorageBytes storage_bytes(pid_t process);

/// Current and maximum resident memory (RSS) of a process, in bytes; -1: unknown, or the process does not exist.
struct ProcessMemory {
  std::int64_t now = -1;
  std::int64_t peak = -1;
};
ProcessMemory memory_of_process(pid_t process);

/// Returns the proportional set size (PSS) of `process` in bytes: a page that several processes share counts in equal parts
/// for each of them. -1: unknown. The kernel takes about a millisecond per GiB to compute it.
std::int64_t proportional_memory(pid_t process);

/// Returns whether `process` exists and is not a zombie.
bool runs(pid_t process);

/// Returns whether `process` runs a Python interpreter: the file name of its executable begins with "python".
bool is_python(pid_t process);

/// Returns the words of the command line of `process`; an empty list if `process` does not exist.
std::vector<std::string> command_words(pid_t process);

/// Returns the command line of `process`, the words separated by blanks; "" if `process` does not exist.
std::string command_text(pid_t process);

}  // namespace trainrt
