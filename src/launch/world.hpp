#pragma once
#include <string>
#include <vector>

namespace trainrt {

/// The rank of this process among all ranks of the job step, and the distribution of the ranks over nodes.
struct World {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< index of this rank among the ranks of its node, ordered by rank
  int local_size = 1;  ///< number of ranks on this node
  int node_rank = 0;   ///< index of this rank's node; nodes are ordered by their lowest rank
  int node_count = 1;
  /// Index of the node that each rank runs on, by rank; empty until the launcher or complete_topology() has provided it.
  std::vector<int> node_of_rank;
  std::string launcher;   ///< name of the launcher plug-in that created this World
  std::vector<int> gpus;  ///< CUDA device numbers that this rank uses; empty if it uses no GPU
};

/// Computes `local_rank`, `local_size`, `node_rank` and `node_count` of `world` from its `node_of_rank`, which must have
/// `size` entries. Renumbers the nodes in `node_of_rank` from 0, in the order of their lowest rank.
void derive_topology(World& world);

/// Returns the number of seconds that this rank must wait before it reports a failure that all ranks may have: 0 on rank 0,
/// `others_wait_s` on other ranks. Rank 0 thus reports first and ends the other ranks, so the error is printed once.
double delay_after_rank0_s(const World& world, double others_wait_s);

/// Blocks for 0.3 s, so that the launcher can forward the output of this rank. Call this function before Launch::abort(),
/// which may discard output that has not been forwarded yet.
void wait_for_output_delivery();

}  // namespace trainrt
