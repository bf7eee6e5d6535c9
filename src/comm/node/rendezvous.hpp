#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/node/board.hpp"

namespace trainrt::comm {

/// Memory, apart from the board, that the ranks can reach in one another.
class Segments {
 public:
  virtual ~Segments() = default;
  /// Where these bytes lie, in words that every rank understands; nothing if the others cannot reach them.
  virtual std::optional<Place> find(const void* data, std::size_t bytes) const = 0;
  virtual std::byte* at(const Place& place) const = 0;
};

/// How the ranks of a board meet in their collectives: each tells the others what it has come with and where its data lies.
/// Small data lies on the board, larger data in a segment; what is neither will pass through the board in pieces.
class Rendezvous {
 public:
  explicit Rendezvous(Board board) : board_(std::move(board)) {}
  Rendezvous(const Rendezvous&) = delete;

  Board& board() { return board_; }
  const Board& board() const { return board_; }

  /// A collective that this rank has come to. Its end tells that the rank needs its own place on the board no more.
  class Meeting {
   public:
    Meeting(Rendezvous& owner, const Segments& segments, std::uint32_t number, Place mine)
        : owner_(owner), segments_(segments), number_(number), mine_(mine) {}
    Meeting(const Meeting&) = delete;
    ~Meeting() { owner_.ended_ = number_; }

    std::uint32_t number() const { return number_; }
    const Place& mine() const { return mine_; }

    // Once the ranks that are asked for have announced it.

    /// Throws Error if a rank of the board came with something else: its size, type or operation differs.
    void require_alike(const Collective& collective, std::int64_t step, int only_rank = -1) const;
    /// A rank's data; nullptr if it will pass in pieces, or there is none.
    std::byte* place_of(int rank) const;
    /// Every rank's; valid up to the next call, of any meeting.
    const std::vector<std::byte*>& places() const;
    bool any(Place::Kind kind) const;

   private:
    Rendezvous& owner_;
    const Segments& segments_;
    std::uint32_t number_;
    Place mine_;
  };

  /// The board has room for one more. If it has none, all that this rank came to has to be completed by all ranks first,
  /// and all_have_finished() told so.
  bool has_room(const Collective& collective);
  void all_have_finished();
  /// Of the collective that was announced last.
  std::uint32_t number() const { return number_; }

  /// Tells the others of the collective and of `bytes` of data at `data`, which are copied if they are small. There must
  /// be room.
  Meeting announce(const Collective& collective, const void* data, std::size_t bytes, const Segments& segments);

 private:
  bool may_take_slot(const Collective& collective) const;
  bool knows_room(bool for_slot) const;
  Place find_place(const void* data, std::size_t bytes, const Segments& segments);

  Board board_;
  std::vector<std::byte*> places_;
  std::uint32_t number_ = 0;
  std::uint32_t ended_ = 0;           ///< the last one that is complete here
  std::uint32_t known_finished_ = 0;  ///< up to here all ranks have finished, as far as this one has looked
  std::size_t next_slot_ = 0;
  std::uint32_t slot_user_[Board::slots] = {};  ///< the collective that used it last
};

}  // namespace trainrt::comm
