#pragma once
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "launch/world.hpp"

namespace trainrt::trainer {

/// Returns the names of all nodes of the run, ordered by the lowest rank on each node. Collective.
std::vector<std::string> node_names(const World& world, Communicator& communicator);

/// Returns the host name of each rank. `nodes` is the result of node_names().
std::vector<std::string> hosts_of_ranks(const World& world, const std::vector<std::string>& nodes);

}  // namespace trainrt::trainer
