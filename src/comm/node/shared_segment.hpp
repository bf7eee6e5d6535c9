#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// Memory that the ranks of a node share. It is anonymous (memfd_create(2)), so it does not depend on /dev/shm and leaves
/// no file. The system frees the memory when the last rank has unmapped it or exited.
struct SharedSegment {
  Memory memory;          ///< mapping of the complete segment: the slices of all ranks of this node, in rank order
  std::size_t slice = 0;  ///< size of a rank's slice in bytes; 0 if the memory is not divided among the ranks
  int index = 0;          ///< index of this rank among the ranks of its node
  std::size_t total = 0;  ///< size of the complete segment in bytes
  /// The file descriptor of the segment, with which another process can map a slice. The file is sealed, so that its size
  /// cannot be changed.
  std::shared_ptr<const int> file;
};

/// The ranks among which share_segment() creates shared memory.
struct SegmentRanks {
  int rank = 0;                  ///< this rank
  std::span<const int> node_of;  ///< node number of each rank
  /// Returns the texts of all ranks, in rank order. Collective.
  std::function<std::vector<std::string>(std::string_view)> gather;

  /// Returns the ranks of `communicator`, which must outlive the result.
  static SegmentRanks of(Communicator& communicator, std::span<const int> node_of_rank) {
    return {communicator.rank(), node_of_rank, [&communicator](auto text) { return communicator.all_gather(text); }};
  }
};

/// Creates a zeroed shared memory segment on every node, with at least `bytes` bytes for each rank of the node. Collective.
/// - All pages are reserved first, so that accessing them cannot fail later.
/// - If a rank fails, no node gets a segment, and `failure` is set to a text with the rank, its host and the reason.
SharedSegment share_segment(const SegmentRanks& ranks, std::size_t bytes, std::string& failure);

/// Creates a zeroed shared memory segment on every node, with `bytes` bytes for all ranks of the node together. Collective.
/// - Only the first `reserved` bytes are reserved. Other pages must be reserved before they are accessed
///   (core/files/reserve_pages.hpp).
/// - Failures are reported as by share_segment(). Too little memory on a node for `bytes` bytes is also a failure.
SharedSegment share_on_demand(const SegmentRanks& ranks, std::size_t bytes, std::size_t reserved, std::string& failure);

}  // namespace trainrt::comm
