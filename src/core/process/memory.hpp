#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt {

/// Returns the bytes of memory that this process can still allocate: the minimum of the memory that the kernel reports as
/// available on this node, and of the rest of the limits of the process's cgroups and of `ulimit -v`.
std::uint64_t available_memory();

/// Returns the bytes that the processes of this process's cgroups may use together; at most the memory of the node.
std::uint64_t memory_limit();

/// Used bytes of a limit.
struct MemoryShare {
  std::uint64_t used = 0;
  std::uint64_t limit = 0;
  double share() const { return static_cast<double>(used) / static_cast<double>(limit); }
};
/// Returns usage and limit of the cgroup of this process that has used the largest share of its limit; nullopt if no cgroup
/// has a limit. Page cache, which the kernel can drop, does not count as used.
std::optional<MemoryShare> fullest_cgroup();

/// Numbers of processes that the kernel has killed since boot because memory ran out. nullopt: unknown.
struct MemoryKills {
  std::optional<std::uint64_t> cgroup;  ///< in the cgroup of this process
  std::optional<std::uint64_t> node;    ///< on this node
};
MemoryKills memory_kills();

/// Throws UsageError "WHAT takes 16.0 GiB of memory ..., and 3.1 GiB ... are left on HOST" if available_memory() is less
/// than `bytes`.
void require_memory(std::uint64_t bytes, const std::string& what);

/// Returns the message for a std::bad_alloc.
std::string out_of_memory_text();

/// Returns "1.5 GiB".
std::string gibibytes(std::uint64_t bytes);

}  // namespace trainrt
