#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// Memory that the ranks of a node share. It is anonymous (memfd_create(2)), so it does not depend on /dev/shm and leaves
/// no file; the system frees it when the last rank has unmapped it or exited.
struct SharedSegment {
  Memory memory;          ///< the slices of all ranks of this node, in rank order
  std::size_t slice = 0;  ///< bytes per rank; 0 if the memory is not divided among the ranks
  int index = 0;          ///< index of this rank among the ranks of its node
  std::size_t total = 0;  ///< bytes of all slices
  /// The file descriptor, for another process that maps a slice. It is sealed against changes of its size.
  std::shared_ptr<const int> file;
};

/// Creates a zeroed segment on every node, with at least `bytes` bytes for each rank. All pages are reserved first, so that
/// accessing them cannot fail later. `node_of_rank`: node number of each rank. If a rank fails, no node gets a segment, and
/// `failure` names the rank, its host and the reason. Collective.
SharedSegment share_segment(Communicator& communicator, std::span<const int> node_of_rank, std::size_t bytes,
                            std::string& failure);

/// Creates a zeroed segment on every node, with `bytes` bytes for all ranks of the node together. Only the first `reserved`
/// bytes are reserved; reserve other pages before accessing them (core/files/reserve_pages.hpp). Fails as in
/// share_segment(), also if a node has not enough memory for `bytes`. Collective.
SharedSegment share_on_demand(Communicator& communicator, std::span<const int> node_of_rank, std::size_t bytes,
                              std::size_t reserved, std::string& failure);

}  // namespace trainrt::comm
