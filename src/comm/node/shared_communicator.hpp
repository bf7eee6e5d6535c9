#pragma once
#include <vector>

#include "comm/node/rendezvous.hpp"
#include "comm/queued_communicator.hpp"
#include "comm/tree.hpp"

namespace trainrt::comm {

/// Collectives of ranks that share memory: each rank reads the others' data where it lies, reduces one stretch of it, and
/// writes the result if the others want it. Small data, and data that the others cannot reach, passes through the board.
class SharedCommunicator : public QueuedCommunicator {
 public:
  /// The ranks of the board are `ranks` (ascending) of `size`; rank board.self() of them is this one.
  SharedCommunicator(Board board, std::vector<int> ranks, int size, double timeout_seconds);

  ~SharedCommunicator() override { forget(); }

  void start_maximum(const Maximum& mine) override;
  Maximum finish_maximum(std::string_view name) override;
  void at_step(std::int64_t step) override;

 protected:
  Task task_of(Collective collective) override;
  virtual const Segments& segments() const = 0;

  /// Makes sure that announce() can go ahead: completes older collectives if the board is full.
  void make_room(const Collective& collective);
  Rendezvous::Meeting announce(const Collective& collective, const void* data, std::size_t bytes) {
    return meetings_.announce(collective, data, bytes, segments());
  }

  const Board& board() const { return meetings_.board(); }
  Board& board() { return meetings_.board(); }
  /// From one part a rank of the board to one part a subtree.
  std::span<const TreeStep> steps() const { return steps_; }

  /// The part of `count` elements that rank `index` of the board reduces; begins on a cache line.
  struct Stretch {
    std::size_t first;
    std::size_t count;
  };
  Stretch stretch_of(std::size_t count, int index) const;

 private:
  Task all_reduce_task(Collective c);
  Task all_reduce_in_pieces(Collective c);
  Task reduce_scatter_task(Collective c);
  Task reduce_scatter_in_pieces(Collective c);
  Task all_gather_task(Collective c);
  Task all_gather_in_pieces(Collective c);
  Task broadcast_task(Collective c);
  Task broadcast_in_pieces(Collective c);
  Task barrier_task(Collective c);
  void reduce_stretch(const Collective& c, std::span<std::byte* const> parts, std::size_t count);

  Rendezvous meetings_;
  std::vector<TreeStep> steps_;
  std::vector<std::byte*> parts_;
  std::vector<std::byte*> moved_;
  std::uint32_t pieces_ = 0;  ///< that passed through the board
  std::uint32_t maxima_ = 0;
};

}  // namespace trainrt::comm
