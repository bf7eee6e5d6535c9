#include "program/environments/cpus.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/process/cpus.hpp"

namespace trainrt::program {

std::string crowding_in_words(const std::string& mine, std::span<const std::string> of_node, std::int64_t on_node) {
  const auto sharers = std::ranges::count(of_node, mine);
  const auto cpus = std::ranges::count(mine, '1');
  if (cpus == 0 || cpus >= sharers || cpus_together(of_node) >= on_node) return "";
  return fmt::format(
      "{} ranks share {} of the {} CPUs of this node, because the launcher binds them to these CPUs; each rank gets one "
      "thread. In Slurm, set --cpus-per-task for sbatch and also for srun, which does not inherit the option since Slurm "
      "22.05, or use srun --cpu-bind=none",
      sharers, cpus, on_node);
}

}  // namespace trainrt::program
