#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt {

/// Bytes of memory that this process can still get: what the kernel calls available on this node, or what is left of the
/// limits of the process's cgroups and of `ulimit -v`, if that is less.
std::uint64_t available_memory();

/// Bytes that the processes of this one's cgroups may have together, or of the node, if that has less.
std::uint64_t memory_limit();

/// Of what may be used together.
struct MemoryShare {
  std::uint64_t used = 0;
  std::uint64_t limit = 0;
  double share() const { return static_cast<double>(used) / static_cast<double>(limit); }
};
/// Of the cgroups of this process that have a limit the one that is nearest to it. Page cache, which the kernel can drop,
/// does not count as used. Nothing if none has a limit.
std::optional<MemoryShare> fullest_cgroup();

/// How many processes the kernel has ended for want of memory so far.
struct MemoryKills {
  std::optional<std::uint64_t> cgroup;  ///< in the cgroup of this process; nothing if that cannot be known
  std::optional<std::uint64_t> node;    ///< in all
};
MemoryKills memory_kills();

/// Throws UsageError "WHAT takes 16.0 GiB of memory, and 3.1 GiB are left for it on HOST" if it cannot be had.
void require_memory(std::uint64_t bytes, const std::string& what);

/// What a std::bad_alloc means, as a sentence.
std::string out_of_memory_text();

std::string gibibytes(std::uint64_t bytes);  ///< "1.5 GiB"

}  // namespace trainrt
