#pragma once
#include <span>
#include <string>

namespace trainrt::program {

/// The CPUs that this thread may run on: "1" or "0" for each, from CPU 0 on.
std::string affinity_of_this_thread();

/// How many CPUs each of the ranks of a node has for itself that may run on these: their number, divided by the ranks with
/// the same; at least 1. Pure.
int cpus_each(const std::string& mine, std::span<const std::string> of_node);

}  // namespace trainrt::program
