#include "comm/node/board.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trainrt::comm {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t rounded(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4, "a futex is a plain 32-bit word");

void futex_wait(Word& word, std::uint32_t seen, double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timespec most{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, seen, &most, nullptr, 0);
}
void futex_wake_all(Word& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Returns whether the counter `value` is `target` or later. Counters are compared by their distance, because they wrap
/// around after 2^32.
bool at_least(std::uint32_t value, std::uint32_t target) { return static_cast<std::int32_t>(value - target) >= 0; }

}  // namespace

/// The area of one rank, its owner, on the shared-memory board. Values that other ranks poll have cache lines of their own,
/// so that writes of the owner to other values do not slow the polling down. The data of a small collective begins in the
/// cache line of its announcement, so that both are read together.
struct alignas(64) Board::RankArea {
  struct alignas(64) Counter {
    Word value;
  };
  struct alignas(64) RingEntry {
    Announcement announcement;
    std::byte inlined[inline_bytes];
  };
  Counter counter[counters];
  alignas(64) Word sleepers;
  std::atomic<std::int32_t> process;
  std::atomic<std::int64_t> step;
  std::atomic<std::uint32_t> abandoned;
  char why[256];
  Communicator::Maximum maxima[2];
  RingEntry entries[ring];
};

namespace {

template <class Area>
constexpr std::size_t stride_of() {
  return rounded(sizeof(Area)) + Board::slots * Board::slot_bytes + Board::piece_slots * Board::piece_bytes;
}

}  // namespace

std::size_t Board::bytes_for(int ranks) { return static_cast<std::size_t>(ranks) * stride_of<RankArea>(); }

Board::Board(std::byte* memory, int self, std::vector<int> numbers)
    : memory_(memory), self_(self), numbers_(std::move(numbers)) {
  area(self).process.store(static_cast<std::int32_t>(getpid()));
}

Board::RankArea& Board::area(int rank) const {
  return *reinterpret_cast<RankArea*>(memory_ + static_cast<std::size_t>(rank) * stride_of<RankArea>());
}

Announcement& Board::announcement(int rank, std::uint32_t number) const {
  return area(rank).entries[number % ring].announcement;
}
std::byte* Board::inlined(int rank, std::uint32_t number) const { return area(rank).entries[number % ring].inlined; }
Communicator::Maximum& Board::maximum(int rank, std::uint32_t number) const { return area(rank).maxima[number % 2]; }

std::byte* Board::slot(int rank, std::size_t index) const {
  return reinterpret_cast<std::byte*>(&area(rank)) + rounded(sizeof(RankArea)) + index * slot_bytes;
}
std::byte* Board::piece(int rank, std::size_t index) const { return slot(rank, slots) + index * piece_bytes; }

/// reach() stores the counter and then loads `sleepers`; sleep_for() increments `sleepers` and then loads the counter. All
/// four accesses must be sequentially consistent. Otherwise a rank could sleep although the counter has changed.
void Board::reach(Counter counter, std::uint32_t value) {
  auto& mine = area(self_);
  mine.counter[counter].value.store(value, std::memory_order_seq_cst);
  if (mine.sleepers.load(std::memory_order_seq_cst) > 0) futex_wake_all(mine.counter[counter].value);
}

std::uint32_t Board::reached(int rank, Counter counter) const {
  return area(rank).counter[counter].value.load(std::memory_order_acquire);
}

bool Board::has_reached(int rank, Counter counter, std::uint32_t value) const {
  return at_least(reached(rank, counter), value);
}

void Board::sleep_for(int rank, Counter counter, std::uint32_t value, double max_seconds) const {
  auto& other = area(rank);
  other.sleepers.fetch_add(1, std::memory_order_seq_cst);
  const auto seen = other.counter[counter].value.load(std::memory_order_seq_cst);
  if (!at_least(seen, value)) futex_wait(other.counter[counter].value, seen, max_seconds);
  other.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

void Board::note_step(std::int64_t step) { area(self_).step.store(step, std::memory_order_relaxed); }

void Board::abandon(const std::string& why) {
  auto& first = area(0);  // if several ranks fail at once, only the first reason is stored
  std::uint32_t nobody = 0;
  if (!first.abandoned.compare_exchange_strong(nobody, 1)) return;
  why.copy(first.why, sizeof first.why - 1);
  first.abandoned.store(2, std::memory_order_release);
  for (int rank = 0; rank < size(); ++rank)
    for (auto& counter : area(rank).counter) futex_wake_all(counter.value);
}

std::string Board::failure(int rank) const {
  if (area(0).abandoned.load(std::memory_order_acquire) == 2) return fmt::format("another rank failed: {}", area(0).why);
  const auto process = area(rank).process.load();
  if (process != 0 && kill(process, 0) != 0 && errno == ESRCH)
    return fmt::format("{} has exited (process {})", name_of(rank), process);
  return {};
}

std::string Board::name_of(int rank) const {
  return fmt::format("rank {} (last seen at step {})", numbers_[static_cast<std::size_t>(rank)], area(rank).step.load());
}

std::string CounterWait::failure() { return next_ < end_ ? board_.failure(next_) : std::string(); }

std::string CounterWait::missing() {
  std::string names;
  for (int rank = next_; rank < end_; ++rank)
    if (!board_.has_reached(rank, counter_, value_)) names += (names.empty() ? "" : ", ") + board_.name_of(rank);
  if (counter_ != Board::announced && counter_ != Board::maximum_posted)
    names += ", which joined the collective but did not complete its share of the work";
  return names;
}

}  // namespace trainrt::comm
