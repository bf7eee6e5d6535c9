#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace trainrt::program {

/// Returns a warning if the ranks of the node are bound to too few CPUs: several ranks share CPUs, there are fewer of
/// these CPUs than ranks, and the ranks together do not use all CPUs of the node. Otherwise returns "". `mine` is the
/// affinity of this rank, and `of_node` are the affinities of all ranks of the node, both as the launcher has set them.
/// `on_node` is the number of CPUs of the node. Pure function.
std::string crowding_in_words(const std::string& mine, std::span<const std::string> of_node, std::int64_t on_node);

}  // namespace trainrt::program
