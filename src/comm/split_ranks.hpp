#pragma once
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// The ranks that called with this color, in the order of their new numbers (key, then rank); none for a negative color.
/// Collective.
std::vector<int> ranks_of_color(Communicator& communicator, int color, int key);

}  // namespace trainrt::comm
