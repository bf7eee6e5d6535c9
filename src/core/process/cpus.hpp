#pragma once
#include <span>
#include <string>
#include <string_view>

namespace trainrt {

/// Returns the CPUs on which this thread may run, as a text with a "1" or "0" for each CPU from CPU 0 on; "" if they
/// cannot be determined.
std::string affinity_of_this_thread();

/// Returns the number of CPUs for this rank: the number of CPUs in the affinity `mine`, divided by the number of ranks
/// of the node with an equal affinity, and at least 1. `of_node`: affinities of all ranks of the node. Pure function.
int cpus_each(const std::string& mine, std::span<const std::string> of_node);

/// Returns the number of CPUs on which at least one of several threads may run, from the affinities of these threads. Pure
/// function.
int cpus_together(std::span<const std::string> affinities);

/// Returns the kind of CPU of this node: its model, and those instruction sets by which mathematical libraries choose their
/// code. Programs on CPUs of different kinds may compute results with different bits.
std::string kind_of_cpu();

/// Returns the kind of CPU that `cpuinfo`, the content of /proc/cpuinfo, describes; "" if it describes no CPU. Pure
/// function.
std::string kind_of_cpu_in(std::string_view cpuinfo);

}  // namespace trainrt
