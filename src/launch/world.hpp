#pragma once
#include <string>
#include <vector>

namespace trainrt {

/// Who this process is among the processes of its step.
struct World {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the ranks of this node, by rank number
  int local_size = 1;  ///< ranks on this node
  int node_rank = 0;   ///< of this node among the nodes, by their lowest rank
  int node_count = 1;
  std::vector<int> node_of_rank;  ///< size entries; empty until the ranks have met (complete_topology)
  std::string launcher;           ///< the plug-in that found this
  std::vector<int> gpus;          ///< CUDA device numbers that this rank works on; none on the CPU
};

/// Fills local_rank, local_size, node_rank and node_count from node_of_rank; node numbers become dense, by lowest rank.
void derive_topology(World& world);

/// If all ranks may fail alike, rank 0 says it and ends the others before they do: how long this rank waits for that, 0
/// s on rank 0.
double behind_first_s(const World& world, double others_wait_s);

/// Before Launch::abort: waits as long as launchers take to pass on what a rank has said.
void let_words_arrive();

}  // namespace trainrt
