#pragma once
#include <span>
#include <vector>

#include "comm/mpi/mpi_communicator.hpp"
#include "comm/tree.hpp"

namespace trainrt::comm {

/// Combines the sums of all nodes. The leader of a node is its first rank and holds the sums of the complete subtrees on
/// that node. For its share of the elements, each leader receives these sums from all leaders, combines them along the tree
/// and sends the result to all leaders. Short buffers are not divided: every leader combines all elements.
class LeaderExchange {
 public:
  /// `leaders`: communicator of the leaders; rank k is the leader of node k. `node_of_rank`: node number of each rank,
  /// without gaps, in the order of the nodes' lowest ranks.
  LeaderExchange(std::unique_ptr<MpiCommunicator> leaders, std::span<const int> node_of_rank);

  /// Combines the sums of all leaders into sums[0]. `sums`: this node's subtree sums, `shape.count` elements each, in the
  /// order of complete_subtrees(). This object must outlive the task.
  CollectiveTask reduce(Buffer shape, Op op, std::vector<std::byte*> sums);
  /// Makes the destructor wait for no other leader, because they may have exited.
  void abandon() { leaders_->abandon(); }

 private:
  std::unique_ptr<MpiCommunicator> leaders_;
  int size_;
  std::vector<std::vector<Subtree>> subtrees_;  ///< complete subtrees of each node
  std::vector<TreeStep> steps_;                 ///< combine the subtrees of all nodes, in node order
  std::int64_t rounds_ = 0;
};

}  // namespace trainrt::comm
