#pragma once
#include <vector>

#include "comm/element_range.hpp"
#include "comm/node/announcer.hpp"
#include "comm/queued_communicator.hpp"
#include "comm/tree.hpp"

namespace trainrt::comm {

/// Base class of communicators between ranks that share memory. In an all-reduce each rank reads the data of all ranks in
/// place, reduces its share of the elements, and writes the result into the buffers of all ranks. Small data, and data that
/// other ranks cannot access, is copied through a Board in shared memory.
class SharedCommunicator : public QueuedCommunicator {
 public:
  /// `ranks`: rank numbers of the ranks that share the memory of `board`, in ascending order. `size`: number of ranks of
  /// the communicator, which may include ranks on other nodes.
  SharedCommunicator(Board board, std::vector<int> ranks, int size, double timeout_seconds);

  ~SharedCommunicator() override { drop_pending(); }

  void start_maximum(const Maximum& mine) override;
  Maximum finish_maximum(std::string_view name) override;
  void at_step(std::int64_t step) override;

 protected:
  CollectiveTask make_task(Collective collective) override;
  virtual const Segments& segments() const = 0;

  /// Makes room on the shared-memory board for announce(): if the board is full, completes older collectives and waits for
  /// the other ranks to finish them.
  void make_room(const Collective& collective);
  Announcer::EnteredCollective announce(const Collective& collective, const void* data, std::size_t bytes) {
    return announcer_.announce(collective, data, bytes, segments());
  }

  const Board& board() const { return announcer_.board(); }
  Board& board() { return announcer_.board(); }
  /// Returns the steps that reduce the arrays of this group's ranks, one array per rank, to one array for each of the
  /// largest subtrees of the run's reduction tree that contain only ranks of this group.
  std::span<const TreeStep> steps() const { return steps_; }

  /// Returns the range of elements that the rank with index `index` on the board reduces, of `count` elements in total.
  /// Each range begins at a multiple of 64 elements, so that two ranks do not write the same cache line.
  ElementRange share_of_rank(std::size_t count, int index) const;

 private:
  CollectiveTask all_reduce_task(Collective c);
  CollectiveTask all_reduce_in_pieces(Collective c);
  CollectiveTask reduce_scatter_task(Collective c);
  CollectiveTask reduce_scatter_in_pieces(Collective c);
  CollectiveTask all_gather_task(Collective c);
  CollectiveTask all_gather_in_pieces(Collective c);
  CollectiveTask broadcast_task(Collective c);
  CollectiveTask broadcast_in_pieces(Collective c);
  CollectiveTask barrier_task(Collective c);
  void reduce_share(const Collective& c, std::span<std::byte* const> parts, std::size_t count);

  Announcer announcer_;
  std::vector<TreeStep> steps_;
  std::vector<std::byte*> parts_;
  std::vector<std::byte*> moved_;
  std::uint32_t pieces_ = 0;  ///< number of pieces copied through the board so far
  std::uint32_t maxima_ = 0;
};

}  // namespace trainrt::comm
