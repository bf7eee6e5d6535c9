#pragma once
#include <optional>
#include <vector>

#include "comm/board.hpp"
#include "comm/queued_communicator.hpp"
#include "comm/tree.hpp"

namespace trainrt::comm {

/// Memory, apart from the board, that the ranks can reach in one another.
class Segments {
 public:
  virtual ~Segments() = default;
  /// Where these bytes lie, in words that every rank understands; nothing where the others cannot reach them.
  virtual std::optional<Place> find(const void* data, std::size_t bytes) const = 0;
  virtual std::byte* at(const Place& place) const = 0;
};

/// Collectives of ranks that share memory: each rank reads the others' data where it lies, reduces one stretch of it, and
/// writes the result where the others want it. Small data, and data that the others cannot reach, passes through the board.
class SharedCommunicator : public QueuedCommunicator {
 public:
  /// The ranks of the board are `ranks` (ascending) of `size`; rank board.self() of them is this one.
  SharedCommunicator(Board board, std::vector<int> ranks, int size, double timeout_seconds);

  ~SharedCommunicator() override { forget(); }

  void start_vote(const Vote& mine) override;
  Vote finish_vote() override;
  void at_step(std::int64_t step) override;

 protected:
  Task task_of(Collective collective) override;
  virtual const Segments& segments() const = 0;

  /// A collective that this rank has come to. Its end tells that the rank needs its own place on the board no more.
  struct Meeting {
    SharedCommunicator& owner;
    std::uint32_t number;
    Place mine;
    Meeting(SharedCommunicator& of, std::uint32_t n, Place place) : owner(of), number(n), mine(place) {}
    Meeting(const Meeting&) = delete;
    ~Meeting() { owner.ended_ = number; }
  };
  /// Makes sure that announce() can go ahead: completes older collectives where the board is full.
  void make_room(const Collective& collective);
  /// Tells the others of the collective and of `bytes` of data at `data`, which are copied where they are small.
  Meeting announce(const Collective& collective, const void* data, std::size_t bytes);
  /// Throws Error where a rank of the board came with something else: its size, type or operation differs.
  void require_alike(const Collective& collective, std::uint32_t number, int only_rank = -1) const;
  /// Every rank's data of that collective.
  const std::vector<std::byte*>& places(std::uint32_t number);
  std::byte* place_of(int rank, std::uint32_t number) const;
  bool any(std::uint32_t number, Place::Kind kind) const;

  const Board& board() const { return board_; }
  Board& board() { return board_; }
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

  Board board_;
  std::vector<TreeStep> steps_;
  std::vector<std::byte*> places_;
  std::vector<std::byte*> moved_;
  std::uint32_t number_ = 0;          ///< of the last collective
  std::uint32_t ended_ = 0;           ///< the last one that is complete here
  std::uint32_t known_finished_ = 0;  ///< up to here all ranks have finished, as far as this one has looked
  std::uint32_t pieces_ = 0;          ///< that passed through the board
  std::uint32_t votes_ = 0;
  std::size_t next_slot_ = 0;
  std::uint32_t slot_user_[Board::slots] = {};  ///< the collective that used it last
};

}  // namespace trainrt::comm
