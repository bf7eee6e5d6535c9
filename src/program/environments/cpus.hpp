#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace trainrt::program {

/// Advice in a warning about ranks that are bound to too few CPUs.
inline constexpr const char* more_cpus_advice =
    "set --cpus-per-task for sbatch and again for srun, "
    "which does not inherit it (Slurm 22.05 and later), or use srun --cpu-bind=none";

/// Returns a warning if the ranks of the node are bound to too few CPUs: several ranks share CPUs, there are fewer of
/// these CPUs than ranks, and the ranks together do not use all CPUs of the node. Otherwise returns "". `mine` is the
/// affinity of this rank, and `of_node` are the affinities of all ranks of the node. `on_node` is the number of CPUs of the
/// node. Pure function.
std::string crowding_in_words(const std::string& mine, std::span<const std::string> of_node, std::int64_t on_node);

}  // namespace trainrt::program
