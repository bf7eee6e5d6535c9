#pragma once
#include <cstdint>
#include <string>

#include "core/process/memory.hpp"
#include "program/children/ending.hpp"

namespace trainrt::program {

/// What a rank sees of the kernel's out-of-memory killer, which tells nobody whom it has ended.
struct MemoryKillSigns {
  MemoryKills before;             ///< the program was started
  MemoryKills after;              ///< it has ended
  std::uint64_t held_bytes = 0;   ///< at most, by the largest of its processes
  std::uint64_t limit_bytes = 0;  ///< of all processes of its cgroup, or of the node
};

/// What the killer had to do with a bad end: "by the kernel's out-of-memory killer: ..."; "" if nothing. The node's count
/// holds the kills of other jobs too: it speaks only if that of the cgroup cannot be known, for ends that a kill alone
/// explains (a shell ends with 137 if its program was killed), and says "perhaps". Pure.
std::string memory_kill_in_words(const Ending& ending, const MemoryKillSigns& signs);

}  // namespace trainrt::program
