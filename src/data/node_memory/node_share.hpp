#pragma once
#include <cstddef>
#include <memory>

namespace trainrt::data {

/// The memory that the ranks of a node share for a dataset.
struct NodeShare {
  int ranks = 1;                        ///< number of ranks on the node
  std::shared_ptr<std::byte[]> memory;  ///< memory of a NodeCache; nullptr if nothing is shared
  std::shared_ptr<const int> file;      ///< descriptor of the memory if pages are reserved on demand, else nullptr
};

}  // namespace trainrt::data
