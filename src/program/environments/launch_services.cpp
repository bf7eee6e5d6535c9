#include "program/environments/launch_services.hpp"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/output/log.hpp"
#include "core/process/cpus.hpp"
#include "core/rank_zero.hpp"
#include "program/environments/cpus.hpp"
#include "program/environments/visible_gpus.hpp"
#include "program/rendezvous/nonce.hpp"
#include "program/services/address_survey.hpp"

namespace trainrt::program {

namespace {

/// The values of one rank that all other ranks need; gather_facts() exchanges them between the ranks.
struct RankFacts {
  int node = 0;
  std::string cpus;
  std::string launcher_cpus;  ///< CPUs to which the launcher has bound the rank, see affinity_of_launcher()
  std::vector<int> ports;     ///< one port for each framework
  std::vector<std::string> nonces;
  std::vector<std::string> gpus;
};

std::vector<RankFacts> gather_facts(Communicator& communicator, const RankFacts& mine) {
  const nlohmann::json text = {{"node", mine.node},   {"cpus", mine.cpus},     {"launcher_cpus", mine.launcher_cpus},
                               {"ports", mine.ports}, {"nonces", mine.nonces}, {"gpus", mine.gpus}};
  std::vector<RankFacts> ranks;
  for (const auto& other : communicator.all_gather(text.dump())) {
    const auto json = nlohmann::json::parse(other);
    ranks.push_back({json["node"], json["cpus"], json["launcher_cpus"], json["ports"], json["nonces"], json["gpus"]});
  }
  return ranks;
}

bool needs_port(const FrameworkEnvironment& framework, int rank) {
  return framework.ports_of == PortsOf::every_rank || (framework.ports_of == PortsOf::first_rank && rank == 0);
}

/// Returns one member of the RankFacts of each rank of `node`, in the order of the local ranks.
template <class Value>
std::vector<Value> of_node(const std::vector<RankFacts>& ranks, int node, Value RankFacts::*member) {
  std::vector<Value> values;
  for (const auto& rank : ranks)
    if (rank.node == node) values.push_back(rank.*member);
  return values;
}

}  // namespace

LaunchServices::LaunchServices(Communicator& communicator, Rendezvous known, const Frameworks& frameworks,
                               const std::string& interface)
    : rendezvous_(std::move(known)) {
  RankFacts mine{
      rendezvous_.node_rank, affinity_of_this_thread(), affinity_of_launcher(), {}, {random_nonce(), random_nonce()},
      rendezvous_.gpu_names};
  const bool uses_loopback = rendezvous_.local_size == communicator.size() && interface.empty();
  reserve(frameworks, communicator.rank(), uses_loopback ? ListenScope::this_node : ListenScope::all_addresses);
  for (const auto* framework : frameworks)
    mine.ports.push_back(reserved_.contains(framework) ? reserved_.at(framework).number() : 0);
  const auto ranks = gather_facts(communicator, mine);
  std::vector<int> node_of_rank;
  for (const auto& rank : ranks) node_of_rank.push_back(rank.node);
  const auto found = find_addresses(communicator, node_of_rank, interface);
  rendezvous_.rank = communicator.rank();
  rendezvous_.size = communicator.size();
  rendezvous_.node_count = static_cast<int>(found.of_nodes.size());
  rendezvous_.nodes = node_of_rank;
  rendezvous_.secret = ranks.front().nonces.at(0);
  rendezvous_.printed_secret = ranks.front().nonces.at(1);
  rendezvous_.cpus = cpus_each(mine.cpus, of_node(ranks, mine.node, &RankFacts::cpus));
  warn_if_crowded(mine.launcher_cpus, of_node(ranks, mine.node, &RankFacts::launcher_cpus));
  rendezvous_.visible_gpus =
      visible_gpus(of_node(ranks, mine.node, &RankFacts::gpus), static_cast<std::size_t>(rendezvous_.local_rank),
                   names_of_gpus(std::getenv("CUDA_VISIBLE_DEVICES")), rendezvous_.own_gpus_only);
  rendezvous_.interface = found.interface;
  for (const int node : node_of_rank) rendezvous_.addresses.push_back(found.of_nodes.at(static_cast<std::size_t>(node)));
  for (std::size_t at = 0; at < frameworks.size(); ++at)
    for (const auto& rank : ranks) rendezvous_.ports[std::string(frameworks[at]->name)].push_back(rank.ports.at(at));
  start(frameworks);
}

/// Logs a warning on the first rank of each node if the launcher has bound the ranks of the node to too few CPUs.
void LaunchServices::warn_if_crowded(const std::string& mine, std::span<const std::string> of_node) const {
  const auto crowding = crowding_in_words(mine, of_node, sysconf(_SC_NPROCESSORS_ONLN));
  if (!crowding.empty()) RankZero(rendezvous_.local_rank).run([&] { log::warning(crowding); });
}

void LaunchServices::reserve(const Frameworks& frameworks, int rank, ListenScope scope_of_services) {
  for (const auto* framework : frameworks) {
    if (!needs_port(*framework, rank)) continue;
    const bool is_served = framework->serve != nullptr;
    const auto reserved = reserved_.try_emplace(framework, is_served ? scope_of_services : ListenScope::all_addresses);
    if (is_served) reserved.first->second.listen();  // programs of other ranks may connect before the service starts
  }
}

void LaunchServices::start(const Frameworks& frameworks) {
  for (const auto* framework : frameworks) {
    if (framework->serve == nullptr) continue;
    const auto reserved = reserved_.find(framework);
    const std::string name(framework->name);
    auto service = framework->serve(rendezvous_, rendezvous_.ports.at(name),
                                    reserved == reserved_.end() ? Descriptor() : reserved->second.take());
    if (!service) continue;
    if (service->inherited() >= 0) rendezvous_.sockets[name] = service->inherited();
    services_.push_back(std::move(service));
  }
}

std::vector<int> LaunchServices::sockets() const {
  std::vector<int> numbers;
  for (const auto& [framework, number] : rendezvous_.sockets) numbers.push_back(number);
  return numbers;
}

void LaunchServices::program_has_started(pid_t group) const {
  for (const auto& service : services_) service->program_has_started(group);
}

}  // namespace trainrt::program
