#pragma once
#include <optional>

#include "core/environment.hpp"
#include "launch/world.hpp"

namespace trainrt::launch {

/// How many ranks of the step are on this node, from what the launcher has told; nullopt if only the ranks together can
/// find out. It equals world.size if one node holds all of them.
std::optional<int> ranks_on_this_node(const World& world, const Environment& environment);

/// This process's number among the ranks of its node as the environment claims it, else its rank: for saying things once a
/// node.
int claimed_local_rank(const World& world, const Environment& environment);

}  // namespace trainrt::launch
