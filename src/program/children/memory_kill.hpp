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

/// Returns a phrase for error messages if the kernel's out-of-memory killer may have caused an unsuccessful exit: "by the
/// kernel's out-of-memory killer ...". Returns "" if the killer killed no process while the program ran.
///
/// If the number of kills in the program's cgroup is unknown, the function uses the number of kills on the node, which
/// may concern other jobs. The phrase then begins with "perhaps". In this case, the function returns "" unless the
/// program was killed by SIGKILL or exited with 137, as a shell does when its program was killed.
std::string memory_kill_in_words(const ExitStatus& status, const MemoryKillSigns& signs);

}  // namespace trainrt::program
