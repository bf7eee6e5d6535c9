#pragma once
#include <cstddef>
#include <memory>

namespace trainrt::data {

/// What a rank has to do with the others of its node, for one dataset.
struct NodeShare {
  int ranks = 1;                        ///< on the node
  std::shared_ptr<std::byte[]> memory;  ///< that they have in common, for a NodeCache; nullptr: none
  std::shared_ptr<const int> file;      ///< its descriptor: pages are taken when they are needed
};

}  // namespace trainrt::data
