#include <map>

#include <fmt/format.h>

#include "comm/backend.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"

#include <trainrt/error.hpp>

namespace trainrt::comm {

namespace {

#ifdef NDEBUG
constexpr bool always_check = false;
#else
constexpr bool always_check = true;
#endif

/// Ranks with equal text share a node. Slurm's node number first: several of its nodes may be one host.
std::string node_identity() {
  const auto slurm_node = Environment::of_process().text("SLURM_NODEID");
  return slurm_node ? "slurm:" + *slurm_node : "host:" + host_name();
}

const Backend& backend_for(const launch::Launch& launch, const std::string& name) {
  const auto* backend = find_backend(name);
  if (backend == nullptr) return best_backend(launch);
  if (const auto obstacle = backend->obstacle(launch); !obstacle.empty())
    throw UsageError(fmt::format("scaling.backend = {} cannot serve here: {}; auto takes {}", name, obstacle,
                                 best_backend(launch).name));
  return *backend;
}

}  // namespace

const Backend* find_backend(const std::string& name) {
  if (name.empty() || name == "auto") return nullptr;
  for (const auto* backend : backend_table())
    if (backend->name == name) return backend;
  throw UsageError(fmt::format("scaling.backend = {}: there is no such backend; there are: auto, {}", name,
                               join(names_of(backend_table()))));
}

const Backend& best_backend(const launch::Launch& launch) {
  const Backend* best = nullptr;
  for (const auto* backend : backend_table())
    if (backend->preference > (best == nullptr ? 0 : best->preference) && backend->obstacle(launch).empty()) best = backend;
  if (best == nullptr)
    throw Error(fmt::format("no comm backend can join {} ranks; there are: {}", launch.world().size,
                            join(names_of(backend_table()))));
  return *best;
}

std::vector<int> nodes_of_ranks(Communicator& communicator) {
  std::vector<int> nodes;
  std::map<std::string, int> numbers;
  for (const auto& identity : communicator.all_gather(node_identity()))
    nodes.push_back(numbers.try_emplace(identity, static_cast<int>(numbers.size())).first->second);
  return nodes;
}

void complete_topology(World& world, Communicator& communicator) {
  if (world.node_of_rank.empty()) world.node_of_rank = nodes_of_ranks(communicator);
  derive_topology(world);
}

std::unique_ptr<Communicator> open_communicator(launch::Launch& launch, const CommOptions& options) {
  auto communicator = backend_for(launch, options.backend).open(launch, options);
  complete_topology(launch.world(), *communicator);
  return options.check || always_check ? checked(std::move(communicator)) : std::move(communicator);
}

std::string choice_explained(const World& world, const Communicator& communicator) {
  std::string name(communicator.name());
  if (name == "mpi" && world.node_count == world.size && world.size > 1) return name + ": one rank a node";
  if (name == "node")
    return name + (world.node_count == 1 ? ": in shared memory" : ": in shared memory, MPI between nodes");
  return name;
}

}  // namespace trainrt::comm
