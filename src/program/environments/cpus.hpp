#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace trainrt::program {

/// The CPUs that this thread may run on: "1" or "0" for each, from CPU 0 on.
std::string affinity_of_this_thread();

/// How many CPUs each of the ranks of a node has for itself that may run on these: their number, divided by the ranks with
/// the same; at least 1. Pure.
int cpus_each(const std::string& mine, std::span<const std::string> of_node);

/// How ranks that are bound to too few CPUs get more of them.
inline constexpr const char* more_cpus_advice =
    "ask for --cpus-per-task in sbatch and again in srun, which does not take it over (Slurm 22.05 and later); or srun "
    "--cpu-bind=none";

/// That the ranks of a node share fewer CPUs than they are, while the node has `on_node` of them, and what to do: the
/// launcher has bound them all to the same. "" if that is not so. Pure.
std::string crowding_in_words(const std::string& mine, std::span<const std::string> of_node, std::int64_t on_node);

}  // namespace trainrt::program
