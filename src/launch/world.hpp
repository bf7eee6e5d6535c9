#pragma once
#include <string>
#include <vector>

namespace trainrt {

/// The position of this process among the ranks of its step.
struct World {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< index among the ranks of this node, ordered by rank
  int local_size = 1;  ///< number of ranks on this node
  int node_rank = 0;   ///< index of this node; nodes are ordered by their lowest rank
  int node_count = 1;
  std::vector<int> node_of_rank;  ///< node index of each rank; empty until complete_topology() has been called
  std::string launcher;           ///< name of the launcher plug-in that created this World
  std::vector<int> gpus;          ///< CUDA device numbers that this rank uses; empty if it uses no GPU
};

/// Sets `local_rank`, `local_size`, `node_rank` and `node_count` from `node_of_rank`, and renumbers the nodes from 0 in
/// the order of their lowest rank. `node_of_rank` must have `size` entries.
void derive_topology(World& world);

/// Returns how many seconds this rank must wait before it reports a failure that all ranks may have: 0 on rank 0,
/// `others_wait_s` elsewhere. Rank 0 thus reports first and ends the other ranks, and the error is printed once.
double delay_after_rank0_s(const World& world, double others_wait_s);

/// Blocks for 0.3 s, the time that launchers need to forward the output of this rank. Call it before Launch::abort(),
/// which may discard output that was not forwarded yet.
void wait_for_output_delivery();

}  // namespace trainrt
