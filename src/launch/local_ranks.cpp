#include "launch/local_ranks.hpp"

namespace trainrt::launch {

std::optional<int> ranks_on_this_node(const World& world, const Environment& environment) {
  if (world.size == 1) return 1;
  if (!world.node_of_rank.empty()) return world.local_size;
  if (const auto hydra = environment.number("MPI_LOCALNRANKS")) return hydra;
  if (environment.number("SLURM_STEP_NUM_NODES") == 1) return world.size;
  return std::nullopt;
}

int claimed_local_rank(const World& world, const Environment& environment) {
  for (const auto* variable : {"MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const auto local = environment.number(variable)) return *local;
  return world.rank;
}

}  // namespace trainrt::launch
