#include "comm/node/rendezvous.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/queued_communicator.hpp"

namespace trainrt::comm {

namespace {

constexpr std::size_t direct_from = 8192;  ///< below it a copy through the board, with one meeting, is faster than two

bool passed(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }  // may wrap

/// What announce() is given of a collective's data.
std::size_t bytes_of_announcement(const Collective& c, int rank) {
  if (c.kind == Collective::Kind::barrier) return 0;
  if (c.kind == Collective::Kind::broadcast && rank != c.root) return 0;
  if (c.kind == Collective::Kind::all_gather) return c.counts[static_cast<std::size_t>(rank)] * size_of(c.buffer.dtype);
  return c.buffer.bytes();
}

std::string described(const Announcement& a) {
  if (a.kind == Collective::Kind::barrier) return "barrier";
  auto text = fmt::format("{} of {} {}", name_of(a.kind), a.count, name_of(a.dtype));
  if (a.kind == Collective::Kind::all_reduce || a.kind == Collective::Kind::reduce_scatter)
    text += fmt::format(" ({})", name_of(a.op));
  if (a.kind == Collective::Kind::broadcast) text += fmt::format(" from rank {}", a.root);
  return text;
}

bool alike(const Announcement& a, const Announcement& b) {
  return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.root == b.root && a.count == b.count;
}

}  // namespace

bool Rendezvous::may_take_slot(const Collective& c) const {
  return bytes_of_announcement(c, board_.number_of(board_.self())) > Board::inline_bytes;
}

bool Rendezvous::knows_room(bool for_slot) const {
  const auto user = slot_user_[next_slot_];
  const bool slot_free = !for_slot || (passed(ended_, user) && passed(known_finished_, user));
  return slot_free && !passed(number_ + 1, known_finished_ + Board::ring);
}

/// Looks at the others' counters only if it must: they are in the others' caches.
bool Rendezvous::has_room(const Collective& c) {
  const bool for_slot = may_take_slot(c);
  if (knows_room(for_slot)) return true;
  known_finished_ = number_;
  for (int other = 0; other < board_.size(); ++other) {
    const auto theirs = board_.reached(other, Board::finished);
    if (!passed(theirs, known_finished_)) known_finished_ = theirs;
  }
  return knows_room(for_slot);
}

void Rendezvous::all_have_finished() {
  known_finished_ = number_;
  std::fill(std::begin(slot_user_), std::end(slot_user_), number_);  // none is so old that its number has come round
}

Rendezvous::Meeting Rendezvous::announce(const Collective& c, const void* data, std::size_t bytes,
                                         const Segments& segments) {
  ++number_;
  const auto place = find_place(data, bytes, segments);
  board_.announcement(board_.self(), number_) = {place, c.kind, c.op, c.buffer.dtype, c.root, c.buffer.count};
  board_.reach(Board::announced, number_);
  return Meeting(*this, segments, number_, place);
}

/// Copies the data to the board if that is its place.
Place Rendezvous::find_place(const void* data, std::size_t bytes, const Segments& segments) {
  if (bytes == 0) return {};
  if (bytes <= Board::inline_bytes) {
    std::memcpy(board_.inlined(board_.self(), number_), data, bytes);
    return {Place::Kind::inlined};
  }
  if (bytes > direct_from)
    if (const auto place = segments.find(data, bytes)) return *place;
  if (bytes > Board::slot_bytes) return {Place::Kind::pieces};
  const auto slot = next_slot_;
  next_slot_ = (slot + 1) % Board::slots;
  slot_user_[slot] = number_;
  std::memcpy(board_.slot(board_.self(), slot), data, bytes);
  return {Place::Kind::slot, 0, slot};
}

void Rendezvous::Meeting::require_alike(const Collective& c, std::int64_t step, int only_rank) const {
  const auto& board = owner_.board_;
  const auto& mine = board.announcement(board.self(), number_);
  for (int other = 0; other < board.size(); ++other) {
    if (only_rank >= 0 && other != only_rank) continue;
    const auto& theirs = board.announcement(other, number_);
    if (!alike(mine, theirs))
      throw Error(fmt::format("{}: the ranks do not make the same call: rank {} came with {}, rank {} with {} (step {})",
                              described(c), board.number_of(board.self()), described(mine), board.number_of(other),
                              described(theirs), step));
  }
}

std::byte* Rendezvous::Meeting::place_of(int rank) const {
  const auto& place = owner_.board_.announcement(rank, number_).place;
  if (place.kind == Place::Kind::inlined) return owner_.board_.inlined(rank, number_);
  if (place.kind == Place::Kind::slot) return owner_.board_.slot(rank, place.offset);
  return place.kind == Place::Kind::direct ? segments_.at(place) : nullptr;
}

const std::vector<std::byte*>& Rendezvous::Meeting::places() const {
  owner_.places_.clear();
  for (int rank = 0; rank < owner_.board_.size(); ++rank) owner_.places_.push_back(place_of(rank));
  return owner_.places_;
}

bool Rendezvous::Meeting::any(Place::Kind kind) const {
  for (int rank = 0; rank < owner_.board_.size(); ++rank)
    if (owner_.board_.announcement(rank, number_).place.kind == kind) return true;
  return false;
}

}  // namespace trainrt::comm
