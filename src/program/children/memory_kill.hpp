#pragma once
#include <cstdint>
#include <string>

#include "core/process/memory.hpp"
#include "program/children/exit_status.hpp"

namespace trainrt::program {

/// Values from which a rank concludes whether the kernel's out-of-memory killer has killed its program.
struct MemoryKillSigns {
  MemoryKills before;             ///< counts of kills when the program was started
  MemoryKills after;              ///< counts of kills when the program had ended
  std::uint64_t held_bytes = 0;   ///< peak memory of the program's largest process
  std::uint64_t limit_bytes = 0;  ///< memory limit of the program's cgroup, or memory of the node
};

/// Returns a text about the involvement of the out-of-memory killer in an unsuccessful exit, "by the kernel's
/// out-of-memory killer ...", or "" if the killer was not involved. If the kills of the cgroup cannot be counted, the
/// function uses the kills on the node, which may also concern other jobs. It does so only if a kill explains the exit
/// (a shell exits with 137 if its program was killed), and the text then begins with "perhaps". Pure function.
std::string memory_kill_in_words(const ExitStatus& status, const MemoryKillSigns& signs);

}  // namespace trainrt::program
