#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "comm/task.hpp"

namespace trainrt::comm {

/// Where a rank's data for one collective lies.
struct Place {
  enum class Kind : std::uint8_t { none, inlined, slot, direct, pieces };
  Kind kind = Kind::none;     ///< inlined, slot: on the board; direct: in a segment; pieces: will pass through the board
  std::uint32_t segment = 0;  ///< of a direct place
  std::uint64_t offset = 0;
};

/// What a rank says of a collective when it comes to it. Plain data: it lies in memory that processes share.
struct Announcement {
  Place place;
  Collective::Kind kind{};
  Op op{};
  DType dtype{};
  std::int32_t root = 0;
  std::uint64_t count = 0;
};

/// Memory in which ranks meet: threads of a process, or processes of a node that map the same pages. Each rank has a line
/// of counters that only it writes and that only grow, a ring of announcements with room for small data, and slots that
/// larger data passes through. Who waits for a counter sleeps on it as a futex, also across processes.
class Board {
 public:
  enum Counter : std::size_t {
    announced,  ///< collectives that this rank has come to
    finished,   ///< collectives whose share it has done: it reads nobody's data any more
    exchanged,  ///< of a node's leader: collectives whose exchange between nodes is done
    copied,     ///< collectives whose result it has taken from the leader
    piece_in,   ///< pieces that lie in its slot
    piece_out,  ///< pieces whose share it has done
    maximum_given,
    counters
  };
  static constexpr std::size_t ring = 64;  ///< collectives that may be in flight
  static constexpr std::size_t inline_bytes = 216;
  static constexpr std::size_t slot_bytes = std::size_t{64} << 10;
  static constexpr std::size_t slots = 4;
  static constexpr std::size_t piece_bytes = std::size_t{512} << 10;
  static constexpr std::size_t piece_slots = 2;

  /// Bytes of the memory for so many ranks; it begins zeroed.
  static std::size_t bytes_for(int ranks);
  /// `numbers`: what the ranks are called in messages; numbers.size() ranks meet, this one is `self` among them. The memory
  /// must outlive the board.
  Board(std::byte* memory, int self, std::vector<int> numbers);

  int self() const { return self_; }
  int size() const { return static_cast<int>(numbers_.size()); }
  int number_of(int rank) const { return numbers_[static_cast<std::size_t>(rank)]; }

  Announcement& announcement(int rank, std::uint32_t number) const;
  std::byte* inlined(int rank, std::uint32_t number) const;
  std::byte* slot(int rank, std::size_t index) const;
  std::byte* piece(int rank, std::size_t index) const;
  Communicator::Maximum& maximum(int rank, std::uint32_t number) const;

  /// Sets this rank's counter, and wakes who waits for it.
  void reach(Counter counter, std::uint32_t value);
  std::uint32_t reached(int rank, Counter counter) const;
  bool has_reached(int rank, Counter counter, std::uint32_t value) const;
  void note_step(std::int64_t step);

  /// Ends all waits: a rank failed, and will not come. For ranks that are threads.
  void abandon(const std::string& why);

 private:
  friend class Arrivals;
  struct Line;
  Line& line(int rank) const;
  void sleep_for(int rank, Counter counter, std::uint32_t value, double most_seconds) const;
  std::string lost(int rank) const;
  std::string seen(int rank) const;

  std::byte* memory_;
  int self_;
  std::vector<int> numbers_;
};

/// All ranks of the board, or one, have reached a value of a counter.
class Arrivals : public Awaited {
 public:
  Arrivals(const Board& board, Board::Counter counter, std::uint32_t value)
      : board_(board), counter_(counter), value_(value), next_(0), end_(board.size()) {}
  Arrivals(const Board& board, Board::Counter counter, std::uint32_t value, int rank)
      : board_(board), counter_(counter), value_(value), next_(rank), end_(rank + 1) {}

  bool ready() override {
    while (next_ < end_ && board_.has_reached(next_, counter_, value_)) ++next_;
    return next_ == end_;
  }
  void sleep(double most_seconds) override { board_.sleep_for(next_, counter_, value_, most_seconds); }
  std::string lost() override;
  std::string missing() override;
  std::string awaited_now() override { return ", for " + missing(); }

 private:
  const Board& board_;
  Board::Counter counter_;
  std::uint32_t value_;
  int next_;
  int end_;
};

}  // namespace trainrt::comm
