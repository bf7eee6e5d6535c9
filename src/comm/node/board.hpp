#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "comm/collective_task.hpp"

namespace trainrt::comm {

/// The location of one rank's data for one collective.
struct DataLocation {
  enum class Kind : std::uint8_t { none, inlined, slot, direct, pieces };
  /// The kind of the location of a rank's data:
  /// - none: the rank has no data.
  /// - inlined, slot: the data is on the board, which is shared memory.
  /// - direct: the data is in a memory segment that all ranks can access.
  /// - pieces: the data is copied through the board in pieces.
  Kind kind = Kind::none;
  std::uint32_t segment = 0;  ///< if `kind` is direct: number of the segment
  /// If `kind` is direct: offset in the segment in bytes, or an address. If `kind` is slot: index of the slot.
  std::uint64_t offset = 0;
};

/// A rank's description of a collective that it has entered, for the other ranks. Plain data, because it is stored in
/// memory that processes share.
struct Announcement {
  DataLocation location;
  Collective::Kind kind{};
  Op op{};
  DType dtype{};
  std::int32_t root = 0;
  std::uint64_t count = 0;
};

/// A board: shared memory through which ranks coordinate their collectives. The ranks are threads of one process, or
/// processes of one node that map the same pages. The board has one area per rank, with:
/// - counters, which only that rank writes and which only grow. Other ranks wait for a counter by sleeping on it as a
///   futex, also across processes.
/// - a ring buffer of announcements, with room for small data.
/// - slots for larger data, and slots for pieces of data that is larger than a slot.
class Board {
 public:
  enum Counter : std::size_t {
    announced,       ///< number of collectives that this rank has entered
    finished,        ///< number of collectives for which this rank has done its share and no longer reads other ranks' data
    exchanged,       ///< on the first rank of a node: number of collectives whose sums were exchanged between nodes
    copied,          ///< number of collectives whose result this rank has copied from the first rank of its node
    piece_written,   ///< number of pieces that this rank has written to its piece slots
    piece_done,      ///< number of pieces that this rank has finished reading and reducing
    maximum_posted,  ///< number of maxima for which this rank has posted its values
    counters
  };
  static constexpr std::size_t ring = 64;  ///< maximum number of collectives in progress on a board
  static constexpr std::size_t inline_bytes = 216;
  static constexpr std::size_t slot_bytes = std::size_t{64} << 10;
  static constexpr std::size_t slots = 4;
  static constexpr std::size_t piece_bytes = std::size_t{512} << 10;
  static constexpr std::size_t piece_slots = 2;

  /// Returns the size in bytes of the shared memory that a board for `ranks` ranks needs. The memory must be zeroed before
  /// its first use.
  static std::size_t bytes_for(int ranks);
  /// Attaches this rank to the board in `memory`, which the Board does not own and which must outlive it. `self`: index of
  /// this rank on the board. `numbers`: for messages, the rank number of each rank of the board.
  Board(std::byte* memory, int self, std::vector<int> numbers);

  int self() const { return self_; }
  int size() const { return static_cast<int>(numbers_.size()); }
  int number_of(int rank) const { return numbers_[static_cast<std::size_t>(rank)]; }

  Announcement& announcement(int rank, std::uint32_t number) const;
  std::byte* inlined(int rank, std::uint32_t number) const;
  std::byte* slot(int rank, std::size_t index) const;
  std::byte* piece(int rank, std::size_t index) const;
  Communicator::Maximum& maximum(int rank, std::uint32_t number) const;

  /// Sets a counter of this rank to `value` and wakes the ranks that wait for the counter.
  void reach(Counter counter, std::uint32_t value);
  std::uint32_t reached(int rank, Counter counter) const;
  bool has_reached(int rank, Counter counter, std::uint32_t value) const;
  void note_step(std::int64_t step);

  /// Ends the waits of all ranks that use the board with an error, because a rank failed. `why`: reason of the failure, for
  /// the error message. Used if the ranks are threads.
  void abandon(const std::string& why);

 private:
  friend class CounterWait;
  struct RankArea;
  RankArea& area(int rank) const;
  void sleep_for(int rank, Counter counter, std::uint32_t value, double max_seconds) const;
  std::string failure(int rank) const;
  std::string name_of(int rank) const;

  std::byte* memory_;
  int self_;
  std::vector<int> numbers_;
};

/// The condition that a counter on a shared-memory board has reached a value, either for all ranks of the board or for one
/// rank.
class CounterWait : public Awaited {
 public:
  CounterWait(const Board& board, Board::Counter counter, std::uint32_t value)
      : board_(board), counter_(counter), value_(value), next_(0), end_(board.size()) {}
  CounterWait(const Board& board, Board::Counter counter, std::uint32_t value, int rank)
      : board_(board), counter_(counter), value_(value), next_(rank), end_(rank + 1) {}

  bool ready() override {
    while (next_ < end_ && board_.has_reached(next_, counter_, value_)) ++next_;
    return next_ == end_;
  }
  void sleep(double max_seconds) override { board_.sleep_for(next_, counter_, value_, max_seconds); }
  std::string failure() override;
  std::string missing() override;
  std::string missing_if_known() override { return ", for " + missing(); }

 private:
  const Board& board_;
  Board::Counter counter_;
  std::uint32_t value_;
  int next_;
  int end_;
};

}  // namespace trainrt::comm
