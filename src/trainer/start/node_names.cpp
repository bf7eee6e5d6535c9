#include "trainer/start/node_names.hpp"

#include <map>
#include <set>

#include "core/host.hpp"

namespace trainrt::trainer {

std::vector<std::string> node_names(const World& world, Communicator& communicator) {
  const auto hosts = communicator.all_gather(node_name());
  std::vector<std::string> names;
  std::set<int> seen;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    if (seen.insert(world.node_of_rank[rank]).second) names.push_back(hosts[rank]);
  return names;
}

std::vector<std::string> hosts_of_ranks(const World& world, const std::vector<std::string>& nodes) {
  std::vector<std::string> hosts;
  std::map<int, std::string> host_of_node;
  for (const int node : world.node_of_rank) {
    if (!host_of_node.contains(node)) host_of_node[node] = nodes.at(host_of_node.size());
    hosts.push_back(host_of_node[node]);
  }
  return hosts;
}

}  // namespace trainrt::trainer
