#pragma once
#include <cstdint>
#include <string>

#include "core/process/memory.hpp"
#include "program/children/exit_status.hpp"

namespace trainrt::program {

/// Figures from which a rank concludes whether the kernel's out-of-memory killer ended its program.
struct MemoryKillSigns {
  MemoryKills before;             ///< counts when the program was started
  MemoryKills after;              ///< counts when it had ended
  std::uint64_t held_bytes = 0;   ///< peak memory of the largest of its processes
  std::uint64_t limit_bytes = 0;  ///< memory limit of its cgroup, or of the node
};

/// Returns the part that the out-of-memory killer had in an unsuccessful exit, "by the kernel's out-of-memory killer ...",
/// or "" if it had none. The node's count also contains kills in other jobs. It is used only if the cgroup's count cannot
/// be read and if a kill explains the exit (a shell exits with 137 if its program was killed); the text then begins with
/// "perhaps". Pure.
std::string memory_kill_in_words(const ExitStatus& status, const MemoryKillSigns& signs);

}  // namespace trainrt::program
