#include "program/children/memory_kill.hpp"

#include <csignal>

#include <fmt/format.h>

namespace trainrt::program {

namespace {

constexpr int shell_signal_exit = 128;  // a shell exits with this number plus the signal that ended its program

std::uint64_t increase(const std::optional<std::uint64_t>& before, const std::optional<std::uint64_t>& after) {
  return before && after && *after > *before ? *after - *before : 0;
}

}  // namespace

std::string memory_kill_in_words(const ExitStatus& status, const MemoryKillSigns& signs) {
  if (status.is_good()) return {};
  const bool is_known = signs.before.cgroup && signs.after.cgroup;
  const auto kills =
      is_known ? increase(signs.before.cgroup, signs.after.cgroup) : increase(signs.before.node, signs.after.node);
  const bool was_killed = status.signal == SIGKILL;
  if (kills == 0 || (!is_known && !was_killed && status.exit_code != shell_signal_exit + SIGKILL)) return {};
  const auto figures = fmt::format("(the largest process of the program held {}, and the limit is {})",
                                   gibibytes(signs.held_bytes), gibibytes(signs.limit_bytes));
  if (!is_known)
    return fmt::format("perhaps by the kernel's out-of-memory killer, which killed processes on this node {}", figures);
  if (was_killed) return "by the kernel's out-of-memory killer " + figures;
  return fmt::format("after the kernel's out-of-memory killer had ended a process of its cgroup {}", figures);
}

}  // namespace trainrt::program
