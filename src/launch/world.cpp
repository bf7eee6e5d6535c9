#include "launch/world.hpp"

#include <chrono>
#include <map>
#include <thread>

namespace trainrt {

void derive_topology(World& world) {
  std::map<int, int> dense;
  for (auto& node : world.node_of_rank) node = dense.try_emplace(node, static_cast<int>(dense.size())).first->second;
  world.node_count = static_cast<int>(dense.size());
  world.node_rank = world.node_of_rank[static_cast<std::size_t>(world.rank)];
  world.local_rank = 0;
  world.local_size = 0;
  for (int rank = 0; rank < world.size; ++rank) {
    if (world.node_of_rank[static_cast<std::size_t>(rank)] != world.node_rank) continue;
    if (rank < world.rank) ++world.local_rank;
    ++world.local_size;
  }
}

double delay_after_rank0_s(const World& world, double others_wait_s) { return world.rank == 0 ? 0 : others_wait_s; }

void wait_for_output_delivery() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

}  // namespace trainrt
