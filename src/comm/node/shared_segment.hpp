#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// Pages that the ranks of a node share. They are anonymous (memfd_create(2)): /dev/shm and its size play
/// no part, they have no name that could be left behind, and they are gone when the last rank has let go of them or died.
struct SharedSegment {
  Memory memory;          ///< of all ranks of this node, in the order of their numbers
  std::size_t slice = 0;  ///< bytes from one rank's to the next's; 0: all is everybody's
  int index = 0;          ///< of this rank among those of its node
  std::size_t total = 0;  ///< bytes, of all slices
  std::shared_ptr<const int>
      file;  ///< its descriptor, for a process that is to map a slice; sealed, so that it keeps its size
};

/// Makes a segment on every node with at least `bytes`, zeroed, for each rank. All pages are reserved before use, so that
/// no later touch can fail. `node_of_rank` says who is on which node. If some node cannot, none gets one: `obstacle` then
/// says who cannot and why. Collective.
SharedSegment share_segment(Communicator& communicator, std::span<const int> node_of_rank, std::size_t bytes,
                            std::string& obstacle);

/// The same, but with `bytes` in all for the ranks of a node together, of which only the first `reserved` are there: before
/// others are touched they are to be reserved (core/files/reserve_pages.hpp). A node that has no room for all of them
/// cannot.
SharedSegment share_on_demand(Communicator& communicator, std::span<const int> node_of_rank, std::size_t bytes,
                              std::size_t reserved, std::string& obstacle);

}  // namespace trainrt::comm
