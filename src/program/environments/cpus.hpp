#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace trainrt::program {

/// Returns the CPUs that this thread may run on: "1" or "0" for each CPU, from CPU 0.
std::string affinity_of_this_thread();

/// Returns the number of CPUs for each rank with the affinity `mine`: the number of these CPUs divided by the number of
/// ranks of the node with the same affinity, and at least 1. Pure.
int cpus_each(const std::string& mine, std::span<const std::string> of_node);

/// Advice for ranks that are bound to too few CPUs.
inline constexpr const char* more_cpus_advice =
    "set --cpus-per-task for sbatch and again for srun, which does not inherit it (Slurm 22.05 and later), or use srun "
    "--cpu-bind=none";

/// Returns a warning if the launcher has bound the ranks of a node to fewer CPUs than ranks although the node has more
/// (`on_node`), else "". Pure.
std::string crowding_in_words(const std::string& mine, std::span<const std::string> of_node, std::int64_t on_node);

}  // namespace trainrt::program
