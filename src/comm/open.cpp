#include <map>

#include "comm/backend.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"

#include <trainrt/error.hpp>

namespace trainrt::comm {

namespace {

/// Ranks with equal text share a node. Slurm's node number first: several of its nodes may be one host.
std::string node_identity() {
  const auto slurm_node = Environment::of_process().text("SLURM_NODEID");
  return slurm_node ? "slurm:" + *slurm_node : "host:" + host_name();
}

void complete_topology(World& world, Communicator& communicator) {
  world.node_of_rank = nodes_of_ranks(communicator);
  derive_topology(world);
}

}  // namespace

std::vector<int> nodes_of_ranks(Communicator& communicator) {
  std::vector<int> nodes;
  std::map<std::string, int> numbers;
  for (const auto& identity : communicator.all_gather(node_identity()))
    nodes.push_back(numbers.try_emplace(identity, static_cast<int>(numbers.size())).first->second);
  return nodes;
}

std::unique_ptr<Communicator> open_communicator(launch::Launch& launch, const CommOptions& options) {
  const Backend* best = nullptr;
  for (const auto* backend : backend_table())
    if (backend->viable(launch) && (best == nullptr || backend->preference > best->preference)) best = backend;
  if (best == nullptr)
    throw Error("no comm backend can join " + std::to_string(launch.world().size) +
                " ranks; there are: " + join(names_of(backend_table())));
  auto communicator = best->open(launch, options);
  if (launch.world().node_of_rank.empty()) complete_topology(launch.world(), *communicator);
  return communicator;
}

}  // namespace trainrt::comm
