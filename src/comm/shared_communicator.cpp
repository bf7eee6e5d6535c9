#include "comm/shared_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/reduce.hpp"

namespace trainrt::comm {

namespace {

constexpr std::size_t direct_from = 8192;  ///< below it a copy through the board, with one meeting, is faster than two
constexpr std::size_t redundant_until = std::size_t{128} << 10;  ///< bytes of all ranks that each rank reduces alone

std::size_t width_of(const Collective& c) { return size_of(c.buffer.dtype); }
std::byte* bytes_of(void* data) { return static_cast<std::byte*>(data); }

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

std::size_t offset_of(std::span<const std::size_t> counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
}

/// What announce() is given of a collective's data.
std::size_t bytes_of_announcement(const Collective& c, int rank) {
  if (c.kind == Collective::Kind::barrier) return 0;
  if (c.kind == Collective::Kind::broadcast && rank != c.root) return 0;
  if (c.kind == Collective::Kind::all_gather) return c.counts[static_cast<std::size_t>(rank)] * width_of(c);
  return c.buffer.bytes();
}

std::string spoken(const Announcement& a) {
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

SharedCommunicator::SharedCommunicator(Board board, std::vector<int> ranks, int size, double timeout_seconds)
    : QueuedCommunicator(ranks[static_cast<std::size_t>(board.self())], size, timeout_seconds),
      board_(std::move(board)),
      steps_(steps_within(ranks, size)) {}

void SharedCommunicator::at_step(std::int64_t step) {
  QueuedCommunicator::at_step(step);
  board_.note_step(step);
}

// --- votes ---------------------------------------------------------------------------------------------------------------

/// Two votes have room: who starts the next but one has seen all start the next, so all have read this one.
void SharedCommunicator::start_vote(const Vote& mine) {
  board_.vote(board_.self(), ++votes_) = mine;
  board_.reach(Board::voted, votes_);
}

SharedCommunicator::Vote SharedCommunicator::finish_vote() {
  Arrivals all(board_, Board::voted, votes_);
  wait_for(all, "stop vote");
  Vote result;
  result.fill(std::numeric_limits<std::int64_t>::min());
  for (int other = 0; other < board_.size(); ++other) {
    const auto& vote = board_.vote(other, votes_);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::max(result[i], vote[i]);
  }
  return result;
}

// --- meeting on the board ------------------------------------------------------------------------------------------------

/// Looks at the others' counters only where it must: they are in the others' caches.
void SharedCommunicator::make_room(const Collective& c) {
  const auto passed = [](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; };  // may wrap
  const bool may_take_slot = bytes_of_announcement(c, rank()) > Board::inline_bytes;
  const auto slot_user = may_take_slot ? slot_user_[next_slot_] : number_;
  const auto has_room = [&] {
    const bool slot_free = !may_take_slot || (passed(ended_, slot_user) && passed(known_finished_, slot_user));
    return slot_free && !passed(number_ + 1, known_finished_ + Board::ring);
  };
  if (has_room()) return;
  known_finished_ = number_;
  for (int other = 0; other < board_.size(); ++other) {
    const auto theirs = board_.reached(other, Board::finished);
    if (!passed(theirs, known_finished_)) known_finished_ = theirs;
  }
  if (has_room()) return;
  drain();
  Arrivals all_done(board_, Board::finished, number_);
  wait_for(all_done, "room for another collective");
  known_finished_ = number_;
  std::fill(std::begin(slot_user_), std::end(slot_user_), number_);  // none is so old that its number has come round
}

SharedCommunicator::Meeting SharedCommunicator::announce(const Collective& c, const void* data, std::size_t bytes) {
  ++number_;
  Place place;
  const auto in_segment = bytes > direct_from ? segments().find(data, bytes) : std::nullopt;
  if (bytes > 0 && bytes <= Board::inline_bytes) {
    place.kind = Place::Kind::inlined;
    copy_bytes(board_.inlined(board_.self(), number_), data, bytes);
  } else if (in_segment) {
    place = *in_segment;
  } else if (bytes > 0 && bytes <= Board::slot_bytes) {
    place = {Place::Kind::slot, 0, next_slot_};
    slot_user_[next_slot_] = number_;
    copy_bytes(board_.slot(board_.self(), next_slot_), data, bytes);
    next_slot_ = (next_slot_ + 1) % Board::slots;
  } else if (bytes > 0) {
    place.kind = Place::Kind::pieces;
  }
  board_.announcement(board_.self(), number_) = {place, c.kind, c.op, c.buffer.dtype, c.root, c.buffer.count};
  board_.reach(Board::announced, number_);
  return Meeting(*this, number_, place);
}

void SharedCommunicator::require_alike(const Collective& c, std::uint32_t number, int only_rank) const {
  const auto& mine = board_.announcement(board_.self(), number);
  for (int other = 0; other < board_.size(); ++other) {
    if (only_rank >= 0 && other != only_rank) continue;
    const auto& theirs = board_.announcement(other, number);
    if (!alike(mine, theirs))
      throw Error(fmt::format("{}: the ranks do not make the same call: rank {} came with {}, rank {} with {} (step {})",
                              described(c), rank(), spoken(mine), board_.number_of(other), spoken(theirs), step()));
  }
}

std::byte* SharedCommunicator::place_of(int index, std::uint32_t number) const {
  const auto& place = board_.announcement(index, number).place;
  if (place.kind == Place::Kind::inlined) return board_.inlined(index, number);
  if (place.kind == Place::Kind::slot) return board_.slot(index, place.offset);
  return place.kind == Place::Kind::direct ? segments().at(place) : nullptr;
}

const std::vector<std::byte*>& SharedCommunicator::places(std::uint32_t number) {
  places_.clear();
  for (int index = 0; index < board_.size(); ++index) places_.push_back(place_of(index, number));
  return places_;
}

bool SharedCommunicator::any(std::uint32_t number, Place::Kind kind) const {
  for (int index = 0; index < board_.size(); ++index)
    if (board_.announcement(index, number).place.kind == kind) return true;
  return false;
}

SharedCommunicator::Stretch SharedCommunicator::stretch_of(std::size_t count, int index) const {
  constexpr std::size_t grain = 64;  // elements: whole cache lines of any type
  const auto grains = (count + grain - 1) / grain;
  const auto ranks = static_cast<std::size_t>(board_.size());
  const auto first = std::min(count, grains * static_cast<std::size_t>(index) / ranks * grain);
  const auto end = std::min(count, grains * (static_cast<std::size_t>(index) + 1) / ranks * grain);
  return {first, end - first};
}

// --- the collectives -----------------------------------------------------------------------------------------------------

Task SharedCommunicator::task_of(Collective c) {
  make_room(c);
  switch (c.kind) {
    case Collective::Kind::all_reduce:
      return all_reduce_task(c);
    case Collective::Kind::reduce_scatter:
      return reduce_scatter_task(c);
    case Collective::Kind::all_gather:
      return all_gather_task(c);
    case Collective::Kind::broadcast:
      return broadcast_task(c);
    default:
      return barrier_task(c);
  }
}

/// This rank's stretch of all parts, reduced into all of them.
void SharedCommunicator::reduce_stretch(const Collective& c, std::span<std::byte* const> parts, std::size_t count) {
  const auto [first, length] = stretch_of(count, board_.self());
  moved_.assign(parts.begin(), parts.end());
  for (auto*& part : moved_) part += first * width_of(c);
  reduce_to(moved_, moved_, length, c.buffer.dtype, c.op, steps_, size());
}

Task SharedCommunicator::all_reduce_task(Collective c) {
  const auto bytes = c.buffer.bytes();
  const auto meeting = announce(c, c.buffer.data, bytes);
  const auto number = meeting.number;
  Arrivals all(board_, Board::announced, number);
  co_await all;
  require_alike(c, number);
  const bool copied = !any(number, Place::Kind::direct) && !any(number, Place::Kind::pieces);
  if (copied && bytes * static_cast<std::size_t>(board_.size()) <= redundant_until) {
    std::byte* const out = bytes_of(c.buffer.data);
    reduce_to(places(number), {&out, 1}, c.buffer.count, c.buffer.dtype, c.op, steps_, size());
    board_.reach(Board::finished, number);
    co_return;
  }
  const bool in_pieces = any(number, Place::Kind::pieces);
  if (in_pieces) {
    auto rest = all_reduce_in_pieces(c);
    while (rest.go_on()) co_await *rest.awaited();
  } else {
    reduce_stretch(c, places(number), c.buffer.count);
  }
  board_.reach(Board::finished, number);
  Arrivals done(board_, Board::finished, number);
  co_await done;
  if (!in_pieces && meeting.mine.kind != Place::Kind::direct)
    copy_bytes(c.buffer.data, place_of(board_.self(), number), bytes);
}

Task SharedCommunicator::all_reduce_in_pieces(Collective c) {
  const auto most = Board::piece_bytes / width_of(c);
  for (std::size_t first = 0; first < c.buffer.count; first += most) {
    const auto count = std::min(most, c.buffer.count - first);
    const auto k = ++pieces_;
    Arrivals free(board_, Board::piece_out, k - Board::piece_slots);
    co_await free;  // a broadcast's root runs ahead of those that still read
    const auto index = k % Board::piece_slots;
    auto* const own = board_.piece(board_.self(), index);
    auto* const data = bytes_of(c.buffer.data) + first * width_of(c);
    copy_bytes(own, data, count * width_of(c));
    board_.reach(Board::piece_in, k);
    Arrivals here(board_, Board::piece_in, k);
    co_await here;
    places_.clear();
    for (int other = 0; other < board_.size(); ++other) places_.push_back(board_.piece(other, index));
    reduce_stretch(c, places_, count);
    board_.reach(Board::piece_out, k);
    Arrivals reduced(board_, Board::piece_out, k);
    co_await reduced;
    copy_bytes(data, own, count * width_of(c));
  }
}

Task SharedCommunicator::reduce_scatter_task(Collective c) {
  const auto meeting = announce(c, c.buffer.data, c.buffer.bytes());
  const auto number = meeting.number;
  Arrivals all(board_, Board::announced, number);
  co_await all;
  require_alike(c, number);
  if (any(number, Place::Kind::pieces)) {
    auto rest = reduce_scatter_in_pieces(c);
    while (rest.go_on()) co_await *rest.awaited();
  } else {
    moved_ = places(number);
    for (auto*& part : moved_) part += offset_of(c.counts, rank()) * width_of(c);
    std::byte* const out = bytes_of(c.part);
    reduce_to(moved_, {&out, 1}, c.counts[static_cast<std::size_t>(rank())], c.buffer.dtype, c.op, steps_, size());
  }
  board_.reach(Board::finished, number);
  Arrivals done(board_, Board::finished, number);
  if (meeting.mine.kind == Place::Kind::direct) co_await done;
}

/// A piece holds as many elements of every rank's part.
Task SharedCommunicator::reduce_scatter_in_pieces(Collective c) {
  const auto ranks = static_cast<std::size_t>(size());
  const auto most = Board::piece_bytes / width_of(c) / ranks;
  const auto longest = *std::ranges::max_element(c.counts);
  const auto here = [&](std::size_t rank, std::size_t first) {
    return c.counts[rank] > first ? std::min(most, c.counts[rank] - first) : 0;
  };
  for (std::size_t first = 0; first < longest; first += most) {
    const auto k = ++pieces_;
    Arrivals free(board_, Board::piece_out, k - Board::piece_slots);
    co_await free;
    auto* const own = board_.piece(board_.self(), k % Board::piece_slots);
    for (std::size_t r = 0, offset = 0; r < ranks; offset += c.counts[r], ++r)
      copy_bytes(own + r * most * width_of(c), bytes_of(c.buffer.data) + (offset + first) * width_of(c),
                 here(r, first) * width_of(c));
    board_.reach(Board::piece_in, k);
    Arrivals in(board_, Board::piece_in, k);
    co_await in;
    const auto self = static_cast<std::size_t>(rank());
    moved_.clear();
    for (int other = 0; other < board_.size(); ++other)
      moved_.push_back(board_.piece(other, k % Board::piece_slots) + self * most * width_of(c));
    std::byte* const out = bytes_of(c.part) + first * width_of(c);
    reduce_to(moved_, {&out, 1}, here(self, first), c.buffer.dtype, c.op, steps_, size());
    board_.reach(Board::piece_out, k);
  }
}

Task SharedCommunicator::all_gather_task(Collective c) {
  const auto own_bytes = c.counts[static_cast<std::size_t>(rank())] * width_of(c);
  const auto meeting = announce(c, c.part, own_bytes);
  const auto number = meeting.number;
  Arrivals all(board_, Board::announced, number);
  co_await all;
  require_alike(c, number);
  const auto& parts = places(number);
  auto* to = bytes_of(c.buffer.data);
  for (std::size_t r = 0; r < parts.size(); to += c.counts[r] * width_of(c), ++r)
    if (parts[r] != nullptr) copy_bytes(to, parts[r], c.counts[r] * width_of(c));
  if (any(number, Place::Kind::pieces)) {
    auto rest = all_gather_in_pieces(c);
    while (rest.go_on()) co_await *rest.awaited();
  }
  board_.reach(Board::finished, number);
  Arrivals done(board_, Board::finished, number);
  if (meeting.mine.kind == Place::Kind::direct) co_await done;
}

/// Of the parts that are too large for a slot and that nobody else can reach; the others pass again with them.
Task SharedCommunicator::all_gather_in_pieces(Collective c) {
  const auto most = Board::piece_bytes / width_of(c);
  const auto longest = *std::ranges::max_element(c.counts);
  const auto here = [&](std::size_t rank, std::size_t first) {
    return c.counts[rank] > first ? std::min(most, c.counts[rank] - first) * width_of(c) : 0;
  };
  const auto self = static_cast<std::size_t>(rank());
  for (std::size_t first = 0; first < longest; first += most) {
    const auto k = ++pieces_;
    Arrivals free(board_, Board::piece_out, k - Board::piece_slots);
    co_await free;
    copy_bytes(board_.piece(board_.self(), k % Board::piece_slots), bytes_of(c.part) + first * width_of(c),
               here(self, first));
    board_.reach(Board::piece_in, k);
    Arrivals in(board_, Board::piece_in, k);
    co_await in;
    auto* to = bytes_of(c.buffer.data) + first * width_of(c);
    for (int other = 0; other < board_.size(); ++other) {
      const auto r = static_cast<std::size_t>(other);
      copy_bytes(to, board_.piece(other, k % Board::piece_slots), here(r, first));
      to += c.counts[r] * width_of(c);
    }
    board_.reach(Board::piece_out, k);
  }
}

Task SharedCommunicator::broadcast_task(Collective c) {
  const bool is_root = rank() == c.root;
  const auto meeting = announce(c, c.buffer.data, is_root ? c.buffer.bytes() : 0);
  const auto number = meeting.number;
  Arrivals from_root(board_, Board::announced, number, c.root);
  co_await from_root;
  require_alike(c, number, c.root);
  if (board_.announcement(c.root, number).place.kind == Place::Kind::pieces) {
    auto rest = broadcast_in_pieces(c);
    while (rest.go_on()) co_await *rest.awaited();
  } else if (!is_root) {
    copy_bytes(c.buffer.data, place_of(c.root, number), c.buffer.bytes());
  }
  board_.reach(Board::finished, number);
  Arrivals done(board_, Board::finished, number);
  if (meeting.mine.kind == Place::Kind::direct) co_await done;
}

Task SharedCommunicator::broadcast_in_pieces(Collective c) {
  const bool is_root = rank() == c.root;
  for (std::size_t first = 0; first < c.buffer.bytes(); first += Board::piece_bytes) {
    const auto bytes = std::min(Board::piece_bytes, c.buffer.bytes() - first);
    const auto k = ++pieces_;
    auto* const piece = board_.piece(c.root, k % Board::piece_slots);
    auto* const data = bytes_of(c.buffer.data) + first;
    Arrivals free(board_, Board::piece_out, k - Board::piece_slots);
    if (is_root) {
      co_await free;
      copy_bytes(piece, data, bytes);
    }
    board_.reach(Board::piece_in, k);
    Arrivals in(board_, Board::piece_in, k, c.root);
    co_await in;
    if (!is_root) copy_bytes(data, piece, bytes);
    board_.reach(Board::piece_out, k);
  }
}

Task SharedCommunicator::barrier_task(Collective c) {
  const auto meeting = announce(c, nullptr, 0);
  const auto number = meeting.number;
  Arrivals all(board_, Board::announced, number);
  co_await all;
  require_alike(c, number);
  board_.reach(Board::finished, number);
}

}  // namespace trainrt::comm
