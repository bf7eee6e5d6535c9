#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace trainrt::program {

/// Returns the CPUs on which this thread may run, as a text with a "1" or "0" for each CPU from CPU 0 on; "" if they
/// cannot be determined.
std::string affinity_of_this_thread();

/// Returns the number of CPUs for this rank: the number of CPUs in the affinity `mine`, divided by the number of ranks
/// of the node with an equal affinity, and at least 1. `of_node`: affinities of all ranks of the node. Pure function.
int cpus_each(const std::string& mine, std::span<const std::string> of_node);

/// Advice in a warning about ranks that are bound to too few CPUs.
inline constexpr const char* more_cpus_advice =
    "set --cpus-per-task for sbatch and again for srun, "
    "which does not inherit it (Slurm 22.05 and later), or use srun --cpu-bind=none";

/// Returns a warning if the ranks of the node are bound to too few CPUs: several ranks share CPUs, there are fewer of
/// these CPUs than ranks, and the node has more CPUs. Otherwise returns "". `mine` is the affinity of this rank, and
/// `of_node` are the affinities of all ranks of the node. `on_node` is the number of CPUs of the node. Pure function.
std::string crowding_in_words(const std::string& mine, std::span<const std::string> of_node, std::int64_t on_node);

}  // namespace trainrt::program
