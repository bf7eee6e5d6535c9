#pragma once
#include <map>
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "data/node_memory/node_share.hpp"
#include "launch/world.hpp"
#include "trainer/datasets/listed_datasets.hpp"

namespace trainrt::trainer {

/// By NAME of [data.NAME]: the memory that this rank shares with the other ranks of its node.
using NodeShares = std::map<std::string, data::NodeShare>;

/// Creates shared memory for the datasets whose values are kept in memory, if a node has several ranks. If that fails, logs
/// a warning, and each rank keeps its own values. Collective.
NodeShares share_datasets(const config::RunSpec& spec, const Listings& listings, const World& world,
                          Communicator& communicator);

}  // namespace trainrt::trainer
