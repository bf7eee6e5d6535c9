#pragma once
#include <span>
#include <vector>

#include "comm/mpi/mpi_communicator.hpp"
#include "comm/tree.hpp"

namespace trainrt::comm {

/// How the first ranks of the nodes bring their nodes' sums together: each node has the sums of the subtrees that lie whole
/// on it; one leader a stretch of the buffer gets all of them, follows the tree to its root, and hands the result to all.
/// Short buffers: every leader does so for the whole buffer.
class LeaderExchange {
 public:
  /// `node_of_rank` has dense node numbers by lowest rank; leader k is node k's.
  LeaderExchange(std::unique_ptr<MpiCommunicator> leaders, std::span<const int> node_of_rank);

  /// `sums`: where this node's subtree sums lie, `shape.count` elements each, in the order of whole_subtrees(). The result
  /// goes to sums[0]. Lives as long as the task.
  Task reduce(Buffer shape, Op op, std::vector<std::byte*> sums);
  /// The other leaders are not there any more: the end waits for nobody.
  void abandon() { leaders_->abandon(); }

 private:
  std::unique_ptr<MpiCommunicator> leaders_;
  int size_;
  std::vector<std::vector<Subtree>> subtrees_;  ///< of each node
  std::vector<TreeStep> steps_;                 ///< over all nodes' subtrees, node after node
  std::int64_t rounds_ = 0;
};

}  // namespace trainrt::comm
