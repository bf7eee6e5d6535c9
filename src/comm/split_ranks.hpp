#pragma once
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// Returns the ranks that passed the same `color`, in the order of their rank numbers in the new communicator: by `key`,
/// then by rank. The result is empty if `color` is negative. Collective.
std::vector<int> ranks_of_color(Communicator& communicator, int color, int key);

}  // namespace trainrt::comm
