#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/node/board.hpp"

namespace trainrt::comm {

/// Memory outside the board that all ranks of the board can access.
class Segments {
 public:
  virtual ~Segments() = default;
  /// Returns the location of `bytes` bytes at `data`, in a form that is valid on every rank, or nothing if the other ranks
  /// cannot access them.
  virtual std::optional<DataLocation> find(const void* data, std::size_t bytes) const = 0;
  /// Returns the address of a location of kind `direct` in this process.
  virtual std::byte* at(const DataLocation& location) const = 0;
};

/// Announces this rank's collectives to the other ranks of a board, with the location of its data. Small data is copied to
/// the board; larger data stays in a segment; data in no segment is copied through a slot, or in pieces if it is too large
/// for a slot.
class Announcer {
 public:
  explicit Announcer(Board board) : board_(std::move(board)) {}
  Announcer(const Announcer&) = delete;

  Board& board() { return board_; }
  const Board& board() const { return board_; }

  /// A collective that this rank has announced. Its destructor marks this rank's data on the board as no longer needed by
  /// this rank.
  class EnteredCollective {
   public:
    EnteredCollective(Announcer& owner, const Segments& segments, std::uint32_t number, DataLocation mine)
        : owner_(owner), segments_(segments), number_(number), mine_(mine) {}
    EnteredCollective(const EnteredCollective&) = delete;
    ~EnteredCollective() { owner_.ended_ = number_; }

    std::uint32_t number() const { return number_; }
    const DataLocation& mine() const { return mine_; }

    // The following functions may be called only after the ranks that they read have announced the collective.

    /// Throws Error if a rank of the board, or `only_rank`, announced another kind, size, type, operation or root.
    void require_alike(const Collective& collective, std::int64_t step, int only_rank = -1) const;
    /// Returns the data of `rank`; nullptr if it has no data or copies it in pieces.
    std::byte* data_of(int rank) const;
    /// Returns the data of each rank. The reference is valid until the next call for any collective of the announcer.
    const std::vector<std::byte*>& data_of_all() const;
    /// Returns whether the data of any rank has this kind of location.
    bool any(DataLocation::Kind kind) const;

   private:
    Announcer& owner_;
    const Segments& segments_;
    std::uint32_t number_;
    DataLocation mine_;
  };

  /// Returns whether the board has room for another collective. If not, wait until all ranks have finished every collective
  /// that this rank has entered, and then call all_have_finished().
  bool has_room(const Collective& collective);
  void all_have_finished();
  /// Returns the number of the collective that was announced last.
  std::uint32_t number() const { return number_; }

  /// Announces a collective and the location of `bytes` bytes at `data`, which are copied to the board if they are small or
  /// in no segment. Requires has_room().
  EnteredCollective announce(const Collective& collective, const void* data, std::size_t bytes, const Segments& segments);

 private:
  bool may_take_slot(const Collective& collective) const;
  bool knows_room(bool for_slot) const;
  DataLocation place_data(const void* data, std::size_t bytes, const Segments& segments);

  Board board_;
  std::vector<std::byte*> data_of_all_;
  std::uint32_t number_ = 0;
  std::uint32_t ended_ = 0;           ///< number of the last collective that is complete on this rank
  std::uint32_t known_finished_ = 0;  ///< all ranks have finished the collectives up to this number, as of the last check
  std::size_t next_slot_ = 0;
  std::uint32_t slot_user_[Board::slots] = {};  ///< number of the collective that used each slot last
};

}  // namespace trainrt::comm
