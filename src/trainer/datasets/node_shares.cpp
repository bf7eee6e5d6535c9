#include "trainer/datasets/node_shares.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "comm/node/shared_segment.hpp"
#include "core/output/log.hpp"
#include "data/node_memory/node_cache.hpp"
#include "data/node_memory/unit_states.hpp"
#include "data/section/open_dataset.hpp"

namespace trainrt::trainer {

namespace {

void add_memory(data::NodeShare& share, const std::string& name, const data::UnitLayout& layout, const World& world,
                Communicator& communicator) {
  std::string obstacle;
  auto segment =
      comm::share_on_demand(comm::SegmentRanks::of(communicator, world.node_of_rank), data::NodeCache::memory_bytes(layout),
                            data::NodeCache::state_bytes(layout), obstacle);
  if (!obstacle.empty()) {
    log::run_warning(
        fmt::format("[data.{0}]: the ranks of a node cannot share memory for the values of this dataset: {1}. Each rank "
                    "keeps as many values as fit into its own part of data.{0}.memory",
                    name, obstacle));
    return;
  }
  if (segment.index == 0) data::UnitStates::make(segment.memory.get(), layout);
  communicator.barrier("memory of [data." + name + "]");
  share.memory = std::move(segment.memory);
  share.file = std::move(segment.file);
}

}  // namespace

NodeShares share_datasets(const config::RunSpec& spec, const Listings& listings, const World& world,
                          Communicator& communicator) {
  NodeShares shares;
  const bool are_alone = world.node_count == world.size;
  for (const auto& [name, options] : spec.data) {
    auto& share = shares[name];
    share.ranks = world.local_size;
    const auto layout = are_alone ? std::nullopt : data::shared_layout(name, options, listings.at(name));
    if (layout) add_memory(share, name, *layout, world, communicator);
  }
  return shares;
}

}  // namespace trainrt::trainer
