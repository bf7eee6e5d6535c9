#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "comm/backend.hpp"
#include "comm/comm_error.hpp"
#include "comm/gpu_backend.hpp"
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

/// Returns an identifier of this rank's node, which is equal for all ranks of the node. Slurm's node number is preferred to
/// the host name, because several nodes of Slurm may run on one host.
std::string node_identity() {
  const auto slurm_node = Environment::of_process().text("SLURM_NODEID");
  return slurm_node ? "slurm:" + *slurm_node : "host:" + host_name();
}

const Backend& backend_for(const launch::Launch& launch, const std::string& name) {
  const auto* backend = find_backends(name).host;
  if (backend == nullptr) return best_backend(launch);
  if (const auto why = backend->why_unavailable(launch); !why.empty())
    throw BackendRefused(
        fmt::format("the backend '{}' cannot be used: {}; auto would select {}", name, why, best_backend(launch).name));
  return *backend;
}

/// Returns the valid backend names: "auto", followed by the names of all backends for host memory and for GPU memory,
/// sorted.
std::vector<std::string> valid_names() {
  auto names = names_of(backend_table());
  for (const auto* backend : gpu_backend_table()) names.emplace_back(backend->name);
  std::ranges::sort(names);
  names.insert(names.begin(), "auto");
  return names;
}

}  // namespace

RequestedBackends find_backends(const std::string& name) {
  if (name.empty() || name == "auto") return {};
  for (const auto* backend : backend_table())
    if (backend->name == name) return {.host = backend};
  for (const auto* backend : gpu_backend_table())
    if (backend->name == name) return {.gpu = backend};
  const auto names = valid_names();
  throw UnknownBackend(
      fmt::format("unknown backend '{}'{}; valid backends: {}", name, did_you_mean(name, names), join(names)));
}

const Backend& best_backend(const launch::Launch& launch) {
  const Backend* best = nullptr;
  for (const auto* backend : backend_table())
    if (backend->preference > (best == nullptr ? 0 : best->preference) && backend->why_unavailable(launch).empty())
      best = backend;
  if (best == nullptr)
    throw UsageError(fmt::format("no backend can be used for {} ranks; backends: {}", launch.world().size,
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

std::string backend_description(const World& world, const Communicator& communicator) {
  std::string text(communicator.name());
  for (const auto* backend : backend_table()) {
    if (backend->name != communicator.name() || backend->details == nullptr) continue;
    if (const auto words = backend->details(world); !words.empty()) text += ": " + words;
  }
  return text;
}

}  // namespace trainrt::comm
