#pragma once
#include <map>
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "data/node_memory/node_share.hpp"
#include "launch/world.hpp"
#include "trainer/datasets/listed_datasets.hpp"

namespace trainrt::trainer {

/// What this rank has in common with the others of its node, for each [data.NAME].
using NodeShares = std::map<std::string, data::NodeShare>;

/// Makes memory for the values of datasets that are to be kept, if several ranks are on a node. Where that cannot be, a
/// line says why, and each rank does without. Collective.
NodeShares share_datasets(const config::RunSpec& spec, const Listings& listings, const World& world,
                          Communicator& communicator);

}  // namespace trainrt::trainer
