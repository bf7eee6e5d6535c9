#include "frameworks/program/arrangement.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "frameworks/program/cpus.hpp"
#include "frameworks/program/main_address.hpp"

namespace trainrt::program {

namespace {

/// What a rank tells the others.
struct RankCard {
  int node = 0;
  std::string cpus;
  std::vector<int> ports;  ///< of the frameworks, in their order
};

std::vector<RankCard> exchange(Communicator& communicator, const RankCard& mine) {
  const nlohmann::json text = {{"node", mine.node}, {"cpus", mine.cpus}, {"ports", mine.ports}};
  std::vector<RankCard> cards;
  for (const auto& other : communicator.all_gather(text.dump())) {
    const auto json = nlohmann::json::parse(other);
    cards.push_back({json["node"], json["cpus"], json["ports"]});
  }
  return cards;
}

bool needs_port(const FrameworkEnvironment& framework, int rank) {
  return framework.ports_of == PortsOf::every_rank || (framework.ports_of == PortsOf::first_rank && rank == 0);
}

std::vector<std::string> cpus_of_node(const std::vector<RankCard>& cards, int node) {
  std::vector<std::string> cpus;
  for (const auto& card : cards)
    if (card.node == node) cpus.push_back(card.cpus);
  return cpus;
}

}  // namespace

Arrangement::Arrangement(Communicator& communicator, Meeting known, const Frameworks& frameworks,
                         const std::string& interface)
    : meeting_(std::move(known)) {
  RankCard mine{meeting_.node_rank, affinity_of_this_thread(), {}};
  for (const auto* framework : frameworks)
    mine.ports.push_back(needs_port(*framework, communicator.rank()) ? reserved_.emplace_back().number() : 0);
  const auto cards = exchange(communicator, mine);
  std::vector<int> node_of_rank;
  for (const auto& card : cards) node_of_rank.push_back(card.node);
  const auto found = find_addresses(communicator, node_of_rank, interface);
  meeting_.rank = communicator.rank();
  meeting_.size = communicator.size();
  meeting_.node_count = static_cast<int>(found.of_nodes.size());
  meeting_.cpus = cpus_each(mine.cpus, cpus_of_node(cards, mine.node));
  meeting_.interface = found.interface;
  for (const int node : node_of_rank) meeting_.addresses.push_back(found.of_nodes.at(static_cast<std::size_t>(node)));
  for (std::size_t at = 0; at < frameworks.size(); ++at)
    for (const auto& card : cards) meeting_.ports[std::string(frameworks[at]->name)].push_back(card.ports.at(at));
}

}  // namespace trainrt::program
