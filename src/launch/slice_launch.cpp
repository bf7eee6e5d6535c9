#include "launch/slice_launch.hpp"

#include <algorithm>

namespace trainrt::launch {

SliceLaunch::SliceLaunch(Launch& parent, std::span<const int> members) : parent_(parent) {
  const auto& all = parent.world();
  world_.rank = static_cast<int>(std::ranges::find(members, all.rank) - members.begin());
  world_.size = static_cast<int>(members.size());
  for (const int member : members) world_.node_of_rank.push_back(all.node_of_rank[static_cast<std::size_t>(member)]);
  world_.launcher = all.launcher;
  world_.gpus = all.gpus;
  derive_topology(world_);
}

}  // namespace trainrt::launch
