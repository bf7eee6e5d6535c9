#pragma once
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// Returns the ranks of the communicator that split(color, key) creates: the ranks that passed the same `color`, sorted by
/// `key`, then by rank. The result is empty if `color` is negative. Collective.
std::vector<int> ranks_of_color(Communicator& communicator, int color, int key);

}  // namespace trainrt::comm
