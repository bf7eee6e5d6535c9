#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace trainrt::comm {

/// Returns the ranks that are on the same node as `rank`, in ascending order.
inline std::vector<int> ranks_here(std::span<const int> node_of_rank, int rank) {
  std::vector<int> ranks;
  for (std::size_t other = 0; other < node_of_rank.size(); ++other)
    if (node_of_rank[other] == node_of_rank[static_cast<std::size_t>(rank)]) ranks.push_back(static_cast<int>(other));
  return ranks;
}

/// The rank of this process, the node number of each rank, and the timeout of collectives.
struct NodeRank {
  int rank = 0;
  std::vector<int> node_of_rank;
  double timeout_seconds = 0;

  std::vector<int> ranks_here() const { return comm::ranks_here(node_of_rank, rank); }
};

}  // namespace trainrt::comm
