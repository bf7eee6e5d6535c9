#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt {

/// Returns the bytes of memory that this process can still allocate. This is the minimum of three numbers:
/// - the available memory of this node, as the kernel reports it
/// - the memory that is left within the limits of the process's cgroups
/// - the memory that is left within the limit of `ulimit -v`
std::uint64_t available_memory();

/// Returns the memory limit of this process's cgroups in bytes. All processes in a cgroup share its limit. If no cgroup
/// has a limit below the memory of the node, returns the memory of the node.
std::uint64_t memory_limit();

/// Memory usage and memory limit of a cgroup, in bytes. share() returns the used fraction of the limit.
struct MemoryShare {
  std::uint64_t used = 0;
  std::uint64_t limit = 0;
  double share() const { return static_cast<double>(used) / static_cast<double>(limit); }
};
/// Returns the memory usage and limit of one of this process's cgroups: the one that has used the largest fraction of its
/// limit. Returns nullopt if no cgroup has a limit below the memory of the node. Page cache does not count as used, since
/// the kernel can drop it.
std::optional<MemoryShare> fullest_cgroup();

/// Numbers of processes that the kernel's out-of-memory (OOM) killer has killed since boot; nullopt: unknown.
struct MemoryKills {
  std::optional<std::uint64_t> cgroup;  ///< kills in the cgroup of this process
  std::optional<std::uint64_t> node;    ///< kills on the complete node
};
MemoryKills memory_kills();

/// Throws UsageError if available_memory() is less than `bytes`: "WHAT takes 16.0 GiB of memory ..., and 3.1 GiB ... are
/// left on HOST".
void require_memory(std::uint64_t bytes, const std::string& what);

/// Returns the error message for a std::bad_alloc: names the host and the memory that is left.
std::string out_of_memory_text();

/// Returns a number of bytes as text in GiB: "1.5 GiB".
std::string gibibytes(std::uint64_t bytes);

}  // namespace trainrt
