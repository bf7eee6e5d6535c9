#pragma once
#include <map>
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "data/node_memory/unit_layout.hpp"
#include "launch/world.hpp"
#include "trainer/datasets/listed_datasets.hpp"

namespace trainrt::trainer {

/// The memory that this rank shares with the other ranks of its node, by NAME of section [data.NAME].
using NodeShares = std::map<std::string, data::NodeShare>;

/// Creates shared memory for the datasets that are kept in memory, if a node has several ranks. If shared memory
/// cannot be created, logs a warning, and each rank keeps its own copy of the values. Collective.
NodeShares share_datasets(const config::RunSpec& spec, const Listings& listings, const World& world,
                          Communicator& communicator);

}  // namespace trainrt::trainer
