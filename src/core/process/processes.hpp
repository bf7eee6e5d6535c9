#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace trainrt {

/// A process and those that it has started, and they, parents first; as they are found at this moment, from /proc. At most
/// 1,000.
std::vector<pid_t> with_descendants(pid_t process);

/// The same, from the processes' parents if the kernel keeps no lists of children (CONFIG_PROC_CHILDREN): then all
/// processes of the node are looked at.
std::vector<pid_t> process_tree(pid_t process);

/// All that this process can see at this moment.
std::vector<pid_t> all_processes();

/// All that this process may look into and that were started with all of these variables in their environment,
/// "NAME=value": also those that have left their group and their session.
std::vector<pid_t> processes_with(std::span<const std::string> variables);

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

/// Bytes that a process has had from storage and has given to it, with its children that have ended; -1: not known.
struct StorageBytes {
  std::int64_t read = -1;
  std::int64_t written = -1;
};
StorageBytes storage_bytes(pid_t process);

/// Bytes of memory that a process has, and the most that it had at any time; -1: not known, or it is gone.
struct ProcessMemory {
  std::int64_t now = -1;
  std::int64_t peak = -1;
};
ProcessMemory memory_of_process(pid_t process);

/// What it has now, with its part of the pages that several processes have (Pss); -1: not known. The kernel takes about a
/// millisecond a gibibyte for it.
std::int64_t proportional_memory(pid_t process);

/// False if it has ended, whether somebody has asked for its exit code or not.
bool runs(pid_t process);

/// Whether it is an interpreter of Python, by the name of its executable.
bool is_python(pid_t process);

/// Its words, for people; "" if it is gone.
std::string command_text(pid_t process);

}  // namespace trainrt
