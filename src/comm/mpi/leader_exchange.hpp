#pragma once
#include <span>
#include <vector>

#include "comm/mpi/mpi_communicator.hpp"
#include "comm/tree.hpp"

namespace trainrt::comm {

/// Reduces the partial sums of all nodes to the final sum. The leader of a node is its first rank; it holds one partial
/// sum for each subtree of the reduction tree that contains only ranks of the node.
///
/// Each leader is responsible for a share of the elements: it receives these elements of the partial sums from all leaders,
/// reduces them along the tree, and sends the result to all leaders. Short buffers are not divided: every leader reduces
/// all elements.
class LeaderExchange {
 public:
  /// `leaders`: communicator of the nodes' leaders; its rank k is the leader of node k. `node_of_rank`: node number of each
  /// rank. Nodes are numbered without gaps, in the order of their lowest ranks.
  LeaderExchange(std::unique_ptr<MpiCommunicator> leaders, std::span<const int> node_of_rank);

  /// Reduces the partial sums of all leaders and stores the result in sums[0]. `sums`: the sums of this node's subtrees,
  /// `shape.count` elements each, in the order of complete_subtrees(). This object must outlive the returned task.
  CollectiveTask reduce(Buffer shape, Op op, std::vector<std::byte*> sums);
  /// Makes the destructor return without waiting for the other leaders, which may have exited.
  void abandon() { leaders_->abandon(); }

 private:
  std::unique_ptr<MpiCommunicator> leaders_;
  int size_;
  std::vector<std::vector<Subtree>> subtrees_;  ///< complete subtrees of the reduction tree on each node
  std::vector<TreeStep> steps_;  ///< reduction steps that combine the subtree sums of all nodes, in node order
  std::int64_t rounds_ = 0;
};

}  // namespace trainrt::comm
