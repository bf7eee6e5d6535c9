#include "comm/node/shared_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/reduce.hpp"

namespace trainrt::comm {

namespace {

constexpr std::size_t redundant_until = std::size_t{128} << 10;  ///< bytes of all ranks that each rank reduces alone

std::size_t width_of(const Collective& c) { return size_of(c.buffer.dtype); }
std::byte* byte_pointer(void* data) { return static_cast<std::byte*>(data); }

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

std::size_t offset_of(std::span<const std::size_t> counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
}

}  // namespace

SharedCommunicator::SharedCommunicator(Board board, std::vector<int> ranks, int size, double timeout_seconds)
    : QueuedCommunicator(ranks[static_cast<std::size_t>(board.self())], size, timeout_seconds),
      meetings_(std::move(board)),
      steps_(steps_within(ranks, size)) {}

void SharedCommunicator::at_step(std::int64_t step) {
  QueuedCommunicator::at_step(step);
  board().note_step(step);
}

// --- the maximum
// -----------------------------------------------------------------------------------------------------------

/// Two have room: who starts the next but one has seen all start the next, so all have read this one.
void SharedCommunicator::start_maximum(const Maximum& mine) {
  board().maximum(board().self(), ++maxima_) = mine;
  board().reach(Board::maximum_given, maxima_);
}

SharedCommunicator::Maximum SharedCommunicator::finish_maximum(std::string_view name) {
  Arrivals all(board(), Board::maximum_given, maxima_);
  wait_for(all, name);
  auto result = board().maximum(0, maxima_);
  for (int other = 1; other < board().size(); ++other)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::max(result[i], board().maximum(other, maxima_)[i]);
  return result;
}

// --- the collectives -----------------------------------------------------------------------------------------------------

void SharedCommunicator::make_room(const Collective& c) {
  if (meetings_.has_room(c)) return;
  drain();
  Arrivals all_done(board(), Board::finished, meetings_.number());
  wait_for(all_done, "room for another collective");
  meetings_.all_have_finished();
}

SharedCommunicator::Stretch SharedCommunicator::stretch_of(std::size_t count, int index) const {
  constexpr std::size_t grain = 64;  // elements: whole cache lines of any type
  const auto grains = (count + grain - 1) / grain;
  const auto ranks = static_cast<std::size_t>(board().size());
  const auto first = std::min(count, grains * static_cast<std::size_t>(index) / ranks * grain);
  const auto end = std::min(count, grains * (static_cast<std::size_t>(index) + 1) / ranks * grain);
  return {first, end - first};
}

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
  const auto [first, length] = stretch_of(count, board().self());
  moved_.assign(parts.begin(), parts.end());
  for (auto*& part : moved_) part += first * width_of(c);
  reduce_to(moved_, moved_, length, c.buffer.dtype, c.op, steps_, size());
}

Task SharedCommunicator::all_reduce_task(Collective c) {
  const auto bytes = c.buffer.bytes();
  const auto meeting = announce(c, c.buffer.data, bytes);
  const auto number = meeting.number();
  Arrivals all(board(), Board::announced, number);
  co_await all;
  meeting.require_alike(c, step());
  const bool copied = !meeting.any(Place::Kind::direct) && !meeting.any(Place::Kind::pieces);
  if (copied && bytes * static_cast<std::size_t>(board().size()) <= redundant_until) {
    std::byte* const out = byte_pointer(c.buffer.data);
    reduce_to(meeting.places(), {&out, 1}, c.buffer.count, c.buffer.dtype, c.op, steps_, size());
    board().reach(Board::finished, number);
    co_return;
  }
  const bool in_pieces = meeting.any(Place::Kind::pieces);
  if (in_pieces) {
    auto rest = all_reduce_in_pieces(c);
    while (rest.go_on()) co_await *rest.awaited();
  } else {
    reduce_stretch(c, meeting.places(), c.buffer.count);
  }
  board().reach(Board::finished, number);
  Arrivals done(board(), Board::finished, number);
  co_await done;
  if (!in_pieces && meeting.mine().kind != Place::Kind::direct)
    copy_bytes(c.buffer.data, meeting.place_of(board().self()), bytes);
}

Task SharedCommunicator::all_reduce_in_pieces(Collective c) {
  const auto most = Board::piece_bytes / width_of(c);
  for (std::size_t first = 0; first < c.buffer.count; first += most) {
    const auto count = std::min(most, c.buffer.count - first);
    const auto k = ++pieces_;
    Arrivals free(board(), Board::piece_out, k - Board::piece_slots);
    co_await free;  // a broadcast's root runs ahead of those that still read
    const auto index = k % Board::piece_slots;
    auto* const own = board().piece(board().self(), index);
    auto* const data = byte_pointer(c.buffer.data) + first * width_of(c);
    copy_bytes(own, data, count * width_of(c));
    board().reach(Board::piece_in, k);
    Arrivals here(board(), Board::piece_in, k);
    co_await here;
    parts_.clear();
    for (int other = 0; other < board().size(); ++other) parts_.push_back(board().piece(other, index));
    reduce_stretch(c, parts_, count);
    board().reach(Board::piece_out, k);
    Arrivals reduced(board(), Board::piece_out, k);
    co_await reduced;
    copy_bytes(data, own, count * width_of(c));
  }
}

Task SharedCommunicator::reduce_scatter_task(Collective c) {
  const auto meeting = announce(c, c.buffer.data, c.buffer.bytes());
  const auto number = meeting.number();
  Arrivals all(board(), Board::announced, number);
  co_await all;
  meeting.require_alike(c, step());
  if (meeting.any(Place::Kind::pieces)) {
    auto rest = reduce_scatter_in_pieces(c);
    while (rest.go_on()) co_await *rest.awaited();
  } else {
    moved_ = meeting.places();
    for (auto*& part : moved_) part += offset_of(c.counts, rank()) * width_of(c);
    std::byte* const out = byte_pointer(c.part);
    reduce_to(moved_, {&out, 1}, c.counts[static_cast<std::size_t>(rank())], c.buffer.dtype, c.op, steps_, size());
  }
  board().reach(Board::finished, number);
  Arrivals done(board(), Board::finished, number);
  if (meeting.mine().kind == Place::Kind::direct) co_await done;
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
    Arrivals free(board(), Board::piece_out, k - Board::piece_slots);
    co_await free;
    auto* const own = board().piece(board().self(), k % Board::piece_slots);
    for (std::size_t r = 0, offset = 0; r < ranks; offset += c.counts[r], ++r)
      copy_bytes(own + r * most * width_of(c), byte_pointer(c.buffer.data) + (offset + first) * width_of(c),
                 here(r, first) * width_of(c));
    board().reach(Board::piece_in, k);
    Arrivals in(board(), Board::piece_in, k);
    co_await in;
    const auto self = static_cast<std::size_t>(rank());
    moved_.clear();
    for (int other = 0; other < board().size(); ++other)
      moved_.push_back(board().piece(other, k % Board::piece_slots) + self * most * width_of(c));
    std::byte* const out = byte_pointer(c.part) + first * width_of(c);
    reduce_to(moved_, {&out, 1}, here(self, first), c.buffer.dtype, c.op, steps_, size());
    board().reach(Board::piece_out, k);
  }
}

Task SharedCommunicator::all_gather_task(Collective c) {
  const auto own_bytes = c.counts[static_cast<std::size_t>(rank())] * width_of(c);
  const auto meeting = announce(c, c.part, own_bytes);
  const auto number = meeting.number();
  Arrivals all(board(), Board::announced, number);
  co_await all;
  meeting.require_alike(c, step());
  const auto& parts = meeting.places();
  auto* to = byte_pointer(c.buffer.data);
  for (std::size_t r = 0; r < parts.size(); to += c.counts[r] * width_of(c), ++r)
    if (parts[r] != nullptr) copy_bytes(to, parts[r], c.counts[r] * width_of(c));
  if (meeting.any(Place::Kind::pieces)) {
    auto rest = all_gather_in_pieces(c);
    while (rest.go_on()) co_await *rest.awaited();
  }
  board().reach(Board::finished, number);
  Arrivals done(board(), Board::finished, number);
  if (meeting.mine().kind == Place::Kind::direct) co_await done;
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
    Arrivals free(board(), Board::piece_out, k - Board::piece_slots);
    co_await free;
    copy_bytes(board().piece(board().self(), k % Board::piece_slots), byte_pointer(c.part) + first * width_of(c),
               here(self, first));
    board().reach(Board::piece_in, k);
    Arrivals in(board(), Board::piece_in, k);
    co_await in;
    auto* to = byte_pointer(c.buffer.data) + first * width_of(c);
    for (int other = 0; other < board().size(); ++other) {
      const auto r = static_cast<std::size_t>(other);
      copy_bytes(to, board().piece(other, k % Board::piece_slots), here(r, first));
      to += c.counts[r] * width_of(c);
    }
    board().reach(Board::piece_out, k);
  }
}

Task SharedCommunicator::broadcast_task(Collective c) {
  const bool is_root = rank() == c.root;
  const auto meeting = announce(c, c.buffer.data, is_root ? c.buffer.bytes() : 0);
  const auto number = meeting.number();
  Arrivals from_root(board(), Board::announced, number, c.root);
  co_await from_root;
  meeting.require_alike(c, step(), c.root);
  if (board().announcement(c.root, number).place.kind == Place::Kind::pieces) {
    auto rest = broadcast_in_pieces(c);
    while (rest.go_on()) co_await *rest.awaited();
  } else if (!is_root) {
    copy_bytes(c.buffer.data, meeting.place_of(c.root), c.buffer.bytes());
  }
  board().reach(Board::finished, number);
  Arrivals done(board(), Board::finished, number);
  if (meeting.mine().kind == Place::Kind::direct) co_await done;
}

Task SharedCommunicator::broadcast_in_pieces(Collective c) {
  const bool is_root = rank() == c.root;
  for (std::size_t first = 0; first < c.buffer.bytes(); first += Board::piece_bytes) {
    const auto bytes = std::min(Board::piece_bytes, c.buffer.bytes() - first);
    const auto k = ++pieces_;
    auto* const piece = board().piece(c.root, k % Board::piece_slots);
    auto* const data = byte_pointer(c.buffer.data) + first;
    Arrivals free(board(), Board::piece_out, k - Board::piece_slots);
    if (is_root) {
      co_await free;
      copy_bytes(piece, data, bytes);
    }
    board().reach(Board::piece_in, k);
    Arrivals in(board(), Board::piece_in, k, c.root);
    co_await in;
    if (!is_root) copy_bytes(data, piece, bytes);
    board().reach(Board::piece_out, k);
  }
}

Task SharedCommunicator::barrier_task(Collective c) {
  const auto meeting = announce(c, nullptr, 0);
  const auto number = meeting.number();
  Arrivals all(board(), Board::announced, number);
  co_await all;
  meeting.require_alike(c, step());
  board().reach(Board::finished, number);
}

}  // namespace trainrt::comm
