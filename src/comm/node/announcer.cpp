#include "comm/node/announcer.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/queued_communicator.hpp"
#include "core/mistake.hpp"

namespace trainrt::comm {

namespace {
/// Size in bytes up to which data is always copied to the shared-memory board: this rank then need not wait until the
/// other ranks have read its buffer. Larger data may be read in place by other ranks.
constexpr std::size_t direct_from = 8192;

/// Compares two collective numbers: returns whether `a` is equal to `b` or later than `b`. Numbers wrap around after 2^32.
bool passed(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

/// Returns the size in bytes of the data that rank `rank` announces for the collective `c`.
std::size_t bytes_of_announcement(const Collective& c, int rank) {
  if (c.kind == Collective::Kind::barrier) return 0;
  if (c.kind == Collective::Kind::broadcast && rank != c.root) return 0;
  if (c.kind == Collective::Kind::all_gather) return c.counts[static_cast<std::size_t>(rank)] * size_of(c.buffer.dtype);
  return c.buffer.bytes();
}

std::string described(const Announcement& a) { return call_text(a.kind, a.count, a.dtype, a.op, a.root); }

bool alike(const Announcement& a, const Announcement& b) {
  return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.root == b.root && a.count == b.count;
}

}  // namespace

bool Announcer::may_take_slot(const Collective& c) const {
  return bytes_of_announcement(c, board_.number_of(board_.self())) > Board::inline_bytes;
}

bool Announcer::knows_room(bool for_slot) const {
  const auto user = slot_user_[next_slot_];
  const bool slot_free = !for_slot || (passed(ended_, user) && passed(known_finished_, user));
  return slot_free && !passed(number_ + 1, known_finished_ + Board::ring);
}

/// Reads the counters of the other ranks only if necessary, because each of these reads fetches a cache line from another
/// core.
bool Announcer::has_room(const Collective& c) {
  const bool for_slot = may_take_slot(c);
  if (knows_room(for_slot)) return true;
  known_finished_ = number_;
  for (int other = 0; other < board_.size(); ++other) {
    const auto theirs = board_.reached(other, Board::finished);
    if (!passed(theirs, known_finished_)) known_finished_ = theirs;
  }
  return knows_room(for_slot);
}

void Announcer::all_have_finished() {
  known_finished_ = number_;
  // Updates the collective numbers stored per slot, so that an old number is never mistaken for a later one after a
  // wrap-around.
  std::fill(std::begin(slot_user_), std::end(slot_user_), number_);
}

Announcer::EnteredCollective Announcer::announce(const Collective& c, const void* data, std::size_t bytes,
                                                 const Segments& segments) {
  ++number_;
  const auto location = place_data(data, bytes, segments);
  board_.announcement(board_.self(), number_) = {location, c.kind, c.op, c.buffer.dtype, c.root, c.buffer.count};
  board_.reach(Board::announced, number_);
  return EnteredCollective(*this, segments, number_, location);
}

/// Chooses the location of this rank's data for the current collective. If the location is on the shared-memory board,
/// copies the data there.
DataLocation Announcer::place_data(const void* data, std::size_t bytes, const Segments& segments) {
  if (bytes == 0) return {};
  if (bytes <= Board::inline_bytes) {
    std::memcpy(board_.inlined(board_.self(), number_), data, bytes);
    return {DataLocation::Kind::inlined};
  }
  if (bytes > direct_from)
    if (const auto location = segments.find(data, bytes)) return *location;
  if (bytes > Board::slot_bytes) return {DataLocation::Kind::pieces};
  const auto slot = next_slot_;
  next_slot_ = (slot + 1) % Board::slots;
  slot_user_[slot] = number_;
  std::memcpy(board_.slot(board_.self(), slot), data, bytes);
  return {DataLocation::Kind::slot, 0, slot};
}

void Announcer::EnteredCollective::require_alike(const Collective& c, std::int64_t step, int only_rank) const {
  const auto& board = owner_.board_;
  const auto& mine = board.announcement(board.self(), number_);
  for (int other = 0; other < board.size(); ++other) {
    if (only_rank >= 0 && other != only_rank) continue;
    const auto& theirs = board.announcement(other, number_);
    if (!alike(mine, theirs))
      throw MistakeError(
          fmt::format("{}: the ranks do not make the same call at step {}: rank {} called {}, rank {} called {}",
                      described(c), step, board.number_of(board.self()), described(mine), board.number_of(other),
                      described(theirs)),
          mistake_kind::calls_differ);
  }
}

std::byte* Announcer::EnteredCollective::data_of(int rank) const {
  const auto& location = owner_.board_.announcement(rank, number_).location;
  if (location.kind == DataLocation::Kind::inlined) return owner_.board_.inlined(rank, number_);
  if (location.kind == DataLocation::Kind::slot) return owner_.board_.slot(rank, location.offset);
  return location.kind == DataLocation::Kind::direct ? segments_.at(location) : nullptr;
}

const std::vector<std::byte*>& Announcer::EnteredCollective::data_of_all() const {
  owner_.data_of_all_.clear();
  for (int rank = 0; rank < owner_.board_.size(); ++rank) owner_.data_of_all_.push_back(data_of(rank));
  return owner_.data_of_all_;
}

bool Announcer::EnteredCollective::any(DataLocation::Kind kind) const {
  for (int rank = 0; rank < owner_.board_.size(); ++rank)
    if (owner_.board_.announcement(rank, number_).location.kind == kind) return true;
  return false;
}

}  // namespace trainrt::comm
