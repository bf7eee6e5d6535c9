#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/node/board.hpp"

namespace trainrt::comm {

/// Memory that all ranks of a shared-memory board can access, in addition to the board itself.
class Segments {
 public:
  virtual ~Segments() = default;
  /// Returns the location of the `bytes` bytes at `data`, in a form that is valid on every rank. Returns nullopt if the
  /// other ranks cannot access the data.
  virtual std::optional<DataLocation> find(const void* data, std::size_t bytes) const = 0;
  /// Returns the address, in this process, of the data at `location`. Requires a location of the kind `direct`.
  virtual std::byte* at(const DataLocation& location) const = 0;
};

/// Announces this rank's collectives, and the location of their data, to the other ranks of a board (shared memory):
/// - Data of up to Board::inline_bytes is copied to the board as part of the announcement.
/// - Data of more than 8 KiB in memory that all ranks can access (Segments) is not copied; other ranks access it in place.
/// - Other data is copied to a slot on the board, or in pieces if it is too large for a slot.
class Announcer {
 public:
  explicit Announcer(Board board) : board_(std::move(board)) {}
  Announcer(const Announcer&) = delete;

  Board& board() { return board_; }
  const Board& board() const { return board_; }

  /// A collective that this rank has announced to the other ranks. The destructor records that this rank no longer needs
  /// its copy of the data on the shared-memory board.
  class EnteredCollective {
   public:
    EnteredCollective(Announcer& owner, const Segments& segments, std::uint32_t number, DataLocation mine)
        : owner_(owner), segments_(segments), number_(number), mine_(mine) {}
    EnteredCollective(const EnteredCollective&) = delete;
    ~EnteredCollective() { owner_.ended_ = number_; }

    std::uint32_t number() const { return number_; }
    const DataLocation& mine() const { return mine_; }

    // Precondition of the following functions: the ranks whose announcements are read have announced the collective.

    /// Throws Error if another rank announced a different kind, size, type, operation or root for this collective. If
    /// `only_rank` is not negative, only that rank is compared.
    void require_alike(const Collective& collective, std::int64_t step, int only_rank = -1) const;
    /// Returns the address of the data of `rank`, or nullptr if that rank has no data or passes its data in pieces.
    std::byte* data_of(int rank) const;
    /// Returns the address of each rank's data, in rank order. The reference is valid until the next call of data_of_all(),
    /// for any collective of the announcer.
    const std::vector<std::byte*>& data_of_all() const;
    /// Returns whether the data of any rank has a location of the kind `kind`.
    bool any(DataLocation::Kind kind) const;

   private:
    Announcer& owner_;
    const Segments& segments_;
    std::uint32_t number_;
    DataLocation mine_;
  };

  /// Returns whether the shared-memory board has room for another collective. If not, the caller must wait until all ranks
  /// have finished every collective that this rank has entered, and then call all_have_finished().
  bool has_room(const Collective& collective);
  void all_have_finished();
  /// Returns the number of the collective that this rank announced last.
  std::uint32_t number() const { return number_; }

  /// Announces a collective to the other ranks, with the location of this rank's data, which is the `bytes` bytes at
  /// `data`. Copies the data to the shared-memory board, except if other ranks can access it in place, or if it is so large
  /// that the caller must copy it in pieces. Requires has_room().
  EnteredCollective announce(const Collective& collective, const void* data, std::size_t bytes, const Segments& segments);

 private:
  bool may_take_slot(const Collective& collective) const;
  bool knows_room(bool for_slot) const;
  DataLocation place_data(const void* data, std::size_t bytes, const Segments& segments);

  Board board_;
  std::vector<std::byte*> data_of_all_;
  std::uint32_t number_ = 0;
  std::uint32_t ended_ = 0;           ///< number of the last collective that is complete on this rank
  std::uint32_t known_finished_ = 0;  ///< number of the last collective that all ranks have finished, as of the last check
  std::size_t next_slot_ = 0;
  std::uint32_t slot_user_[Board::slots] = {};  ///< number of the collective that last used each slot on the board
};

}  // namespace trainrt::comm
