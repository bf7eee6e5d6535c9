#include "program/environments/arrangement.hpp"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "program/children/nonce.hpp"
#include "program/environments/cpus.hpp"
#include "program/environments/visible_gpus.hpp"
#include "program/services/main_address.hpp"

namespace trainrt::program {

namespace {

/// What a rank tells the others.
struct RankCard {
  int node = 0;
  std::string cpus;
  std::vector<int> ports;  ///< of the frameworks, in their order
  std::vector<std::string> nonces;
  std::vector<std::string> gpus;
};

std::vector<RankCard> exchange(Communicator& communicator, const RankCard& mine) {
  const nlohmann::json text = {
      {"node", mine.node}, {"cpus", mine.cpus}, {"ports", mine.ports}, {"nonces", mine.nonces}, {"gpus", mine.gpus}};
  std::vector<RankCard> cards;
  for (const auto& other : communicator.all_gather(text.dump())) {
    const auto json = nlohmann::json::parse(other);
    cards.push_back({json["node"], json["cpus"], json["ports"], json["nonces"], json["gpus"]});
  }
  return cards;
}

bool needs_port(const FrameworkEnvironment& framework, int rank) {
  return framework.ports_of == PortsOf::every_rank || (framework.ports_of == PortsOf::first_rank && rank == 0);
}

/// Of the node's ranks, by local rank.
template <class Value>
std::vector<Value> of_node(const std::vector<RankCard>& cards, int node, Value RankCard::*member) {
  std::vector<Value> values;
  for (const auto& card : cards)
    if (card.node == node) values.push_back(card.*member);
  return values;
}

}  // namespace

Arrangement::Arrangement(Communicator& communicator, Meeting known, const Frameworks& frameworks,
                         const std::string& interface)
    : meeting_(std::move(known)) {
  RankCard mine{meeting_.node_rank, affinity_of_this_thread(), {}, {made_up_nonce(), made_up_nonce()}, meeting_.gpus};
  const bool is_one_node = meeting_.local_size == communicator.size() && interface.empty();  // then all is on 127.0.0.1
  reserve(frameworks, communicator.rank(), is_one_node ? Reach::this_node : Reach::all_addresses);
  for (const auto* framework : frameworks)
    mine.ports.push_back(reserved_.contains(framework) ? reserved_.at(framework).number() : 0);
  const auto cards = exchange(communicator, mine);
  std::vector<int> node_of_rank;
  for (const auto& card : cards) node_of_rank.push_back(card.node);
  const auto found = find_addresses(communicator, node_of_rank, interface);
  meeting_.rank = communicator.rank();
  meeting_.size = communicator.size();
  meeting_.node_count = static_cast<int>(found.of_nodes.size());
  meeting_.nodes = node_of_rank;
  meeting_.secret = cards.front().nonces.at(0);
  meeting_.printed_secret = cards.front().nonces.at(1);
  take_cpus(mine.cpus, of_node(cards, mine.node, &RankCard::cpus));
  meeting_.visible_gpus =
      visible_gpus(of_node(cards, mine.node, &RankCard::gpus), static_cast<std::size_t>(meeting_.local_rank),
                   names_of_gpus(std::getenv("CUDA_VISIBLE_DEVICES")), meeting_.own_gpus_only);
  meeting_.interface = found.interface;
  for (const int node : node_of_rank) meeting_.addresses.push_back(found.of_nodes.at(static_cast<std::size_t>(node)));
  for (std::size_t at = 0; at < frameworks.size(); ++at)
    for (const auto& card : cards) meeting_.ports[std::string(frameworks[at]->name)].push_back(card.ports.at(at));
  start_services(frameworks);
}

/// The first rank of each node says it if they are too few.
void Arrangement::take_cpus(const std::string& mine, std::span<const std::string> of_node) {
  meeting_.cpus = cpus_each(mine, of_node);
  const auto crowding = crowding_in_words(mine, of_node, sysconf(_SC_NPROCESSORS_ONLN));
  if (!crowding.empty()) RankZero(meeting_.local_rank).run([&] { log::warning(crowding); });
}

void Arrangement::reserve(const Frameworks& frameworks, int rank, Reach of_services) {
  for (const auto* framework : frameworks) {
    if (!needs_port(*framework, rank)) continue;
    const bool is_served = framework->serve != nullptr;
    const auto reserved = reserved_.try_emplace(framework, is_served ? of_services : Reach::all_addresses);
    if (is_served) reserved.first->second.listen();  // the programs of other ranks may start before it is served
  }
}

void Arrangement::start_services(const Frameworks& frameworks) {
  for (const auto* framework : frameworks) {
    if (framework->serve == nullptr) continue;
    const auto reserved = reserved_.find(framework);
    const std::string name(framework->name);
    auto service = framework->serve(meeting_, meeting_.ports.at(name),
                                    reserved == reserved_.end() ? Descriptor() : reserved->second.take());
    if (!service) continue;
    if (service->inherited() >= 0) meeting_.sockets[name] = service->inherited();
    services_.push_back(std::move(service));
  }
}

std::vector<int> Arrangement::sockets() const {
  std::vector<int> numbers;
  for (const auto& [framework, number] : meeting_.sockets) numbers.push_back(number);
  return numbers;
}

void Arrangement::program_has_started(pid_t group) const {
  for (const auto& service : services_) service->program_has_started(group);
}

}  // namespace trainrt::program
