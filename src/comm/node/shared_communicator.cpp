#include "comm/node/shared_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/reduce.hpp"

namespace trainrt::comm {

namespace {

/// If the data of all ranks together has at most this size in bytes, each rank computes the complete result of an
/// all-reduce itself. The ranks then need not wait for parts of the result from each other.
constexpr std::size_t max_redundant_bytes = std::size_t{128} << 10;

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
      announcer_(std::move(board)),
      steps_(steps_within(ranks, size)) {}

void SharedCommunicator::at_step(std::int64_t step) {
  QueuedCommunicator::at_step(step);
  board().note_step(step);
}

// --- start_maximum() and finish_maximum() --------------------------------------------------------------------------------

/// The shared-memory board has room for two maxima per rank. Two are enough: before a rank starts maximum n + 2, all
/// ranks have started maximum n + 1, and have therefore read maximum n.
void SharedCommunicator::start_maximum(const Maximum& mine) {
  board().maximum(board().self(), ++maxima_) = mine;
  board().reach(Board::maximum_posted, maxima_);
}

SharedCommunicator::Maximum SharedCommunicator::finish_maximum(std::string_view name) {
  CounterWait all(board(), Board::maximum_posted, maxima_);
  wait_for(all, name);
  auto result = board().maximum(0, maxima_);
  for (int other = 1; other < board().size(); ++other)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::max(result[i], board().maximum(other, maxima_)[i]);
  return result;
}

// --- coroutines of the collectives ---------------------------------------------------------------------------------------

void SharedCommunicator::make_room(const Collective& c) {
  if (announcer_.has_room(c)) return;
  drain();
  CounterWait all_done(board(), Board::finished, announcer_.number());
  wait_for(all_done, "room for another collective");
  announcer_.all_have_finished();
}

ElementRange SharedCommunicator::share_of_rank(std::size_t count, int index) const {
  constexpr std::size_t grain = 64;  // in elements; a multiple of a cache line for any element type
  return share_of(count, index, board().size(), grain);
}

CollectiveTask SharedCommunicator::make_task(Collective c) {
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

/// Reduces this rank's share of the elements of the arrays `parts`, and writes the result into all of these arrays.
void SharedCommunicator::reduce_share(const Collective& c, std::span<std::byte* const> parts, std::size_t count) {
  const auto [first, length] = share_of_rank(count, board().self());
  moved_.assign(parts.begin(), parts.end());
  for (auto*& part : moved_) part += first * width_of(c);
  reduce_to(moved_, moved_, length, c.buffer.dtype, c.op, steps_, size());
}

CollectiveTask SharedCommunicator::all_reduce_task(Collective c) {
  const auto bytes = c.buffer.bytes();
  const auto entered = announce(c, c.buffer.data, bytes);
  const auto number = entered.number();
  CounterWait all(board(), Board::announced, number);
  co_await all;
  entered.require_alike(c, step());
  const bool copied = !entered.any(DataLocation::Kind::direct) && !entered.any(DataLocation::Kind::pieces);
  if (copied && bytes * static_cast<std::size_t>(board().size()) <= max_redundant_bytes) {
    std::byte* const out = byte_pointer(c.buffer.data);
    reduce_to(entered.data_of_all(), {&out, 1}, c.buffer.count, c.buffer.dtype, c.op, steps_, size());
    board().reach(Board::finished, number);
    co_return;
  }
  const bool in_pieces = entered.any(DataLocation::Kind::pieces);
  if (in_pieces) {
    auto rest = all_reduce_in_pieces(c);
    while (rest.advance()) co_await *rest.awaited();
  } else {
    reduce_share(c, entered.data_of_all(), c.buffer.count);
  }
  board().reach(Board::finished, number);
  CounterWait done(board(), Board::finished, number);
  co_await done;
  if (!in_pieces && entered.mine().kind != DataLocation::Kind::direct)
    copy_bytes(c.buffer.data, entered.data_of(board().self()), bytes);
}

CollectiveTask SharedCommunicator::all_reduce_in_pieces(Collective c) {
  const auto max_count = Board::piece_bytes / width_of(c);
  for (std::size_t first = 0; first < c.buffer.count; first += max_count) {
    const auto count = std::min(max_count, c.buffer.count - first);
    const auto k = ++pieces_;
    CounterWait free(board(), Board::piece_done, k - Board::piece_slots);
    co_await free;  // waits, because after a broadcast other ranks may still read the slot of its root
    const auto index = k % Board::piece_slots;
    auto* const own = board().piece(board().self(), index);
    auto* const data = byte_pointer(c.buffer.data) + first * width_of(c);
    copy_bytes(own, data, count * width_of(c));
    board().reach(Board::piece_written, k);
    CounterWait here(board(), Board::piece_written, k);
    co_await here;
    parts_.clear();
    for (int other = 0; other < board().size(); ++other) parts_.push_back(board().piece(other, index));
    reduce_share(c, parts_, count);
    board().reach(Board::piece_done, k);
    CounterWait reduced(board(), Board::piece_done, k);
    co_await reduced;
    copy_bytes(data, own, count * width_of(c));
  }
}

CollectiveTask SharedCommunicator::reduce_scatter_task(Collective c) {
  const auto entered = announce(c, c.buffer.data, c.buffer.bytes());
  const auto number = entered.number();
  CounterWait all(board(), Board::announced, number);
  co_await all;
  entered.require_alike(c, step());
  if (entered.any(DataLocation::Kind::pieces)) {
    auto rest = reduce_scatter_in_pieces(c);
    while (rest.advance()) co_await *rest.awaited();
  } else {
    moved_ = entered.data_of_all();
    for (auto*& part : moved_) part += offset_of(c.counts, rank()) * width_of(c);
    std::byte* const out = byte_pointer(c.part);
    reduce_to(moved_, {&out, 1}, c.counts[static_cast<std::size_t>(rank())], c.buffer.dtype, c.op, steps_, size());
  }
  board().reach(Board::finished, number);
  CounterWait done(board(), Board::finished, number);
  if (entered.mine().kind == DataLocation::Kind::direct) co_await done;
}

/// Performs a reduce-scatter in pieces: each rank copies its data, piece by piece, to the shared-memory board, from which
/// the other ranks read it. A piece has the same number of elements for every rank's part of the result.
CollectiveTask SharedCommunicator::reduce_scatter_in_pieces(Collective c) {
  const auto ranks = static_cast<std::size_t>(size());
  const auto max_count = Board::piece_bytes / width_of(c) / ranks;
  const auto longest = *std::ranges::max_element(c.counts);
  const auto here = [&](std::size_t rank, std::size_t first) {
    return c.counts[rank] > first ? std::min(max_count, c.counts[rank] - first) : 0;
  };
  for (std::size_t first = 0; first < longest; first += max_count) {
    const auto k = ++pieces_;
    CounterWait free(board(), Board::piece_done, k - Board::piece_slots);
    co_await free;
    auto* const own = board().piece(board().self(), k % Board::piece_slots);
    for (std::size_t r = 0, offset = 0; r < ranks; offset += c.counts[r], ++r)
      copy_bytes(own + r * max_count * width_of(c), byte_pointer(c.buffer.data) + (offset + first) * width_of(c),
                 here(r, first) * width_of(c));
    board().reach(Board::piece_written, k);
    CounterWait in(board(), Board::piece_written, k);
    co_await in;
    const auto self = static_cast<std::size_t>(rank());
    moved_.clear();
    for (int other = 0; other < board().size(); ++other)
      moved_.push_back(board().piece(other, k % Board::piece_slots) + self * max_count * width_of(c));
    std::byte* const out = byte_pointer(c.part) + first * width_of(c);
    reduce_to(moved_, {&out, 1}, here(self, first), c.buffer.dtype, c.op, steps_, size());
    board().reach(Board::piece_done, k);
  }
}

CollectiveTask SharedCommunicator::all_gather_task(Collective c) {
  const auto own_bytes = c.counts[static_cast<std::size_t>(rank())] * width_of(c);
  const auto entered = announce(c, c.part, own_bytes);
  const auto number = entered.number();
  CounterWait all(board(), Board::announced, number);
  co_await all;
  entered.require_alike(c, step());
  const auto& parts = entered.data_of_all();
  auto* to = byte_pointer(c.buffer.data);
  for (std::size_t r = 0; r < parts.size(); to += c.counts[r] * width_of(c), ++r)
    if (parts[r] != nullptr) copy_bytes(to, parts[r], c.counts[r] * width_of(c));
  if (entered.any(DataLocation::Kind::pieces)) {
    auto rest = all_gather_in_pieces(c);
    while (rest.advance()) co_await *rest.awaited();
  }
  board().reach(Board::finished, number);
  CounterWait done(board(), Board::finished, number);
  if (entered.mine().kind == DataLocation::Kind::direct) co_await done;
}

/// Performs an all-gather in pieces: each rank copies its data, piece by piece, to the shared-memory board, from which the
/// other ranks read it. Used if the data of at least one rank is larger than a slot of the board, and other ranks cannot
/// access this data in place.
CollectiveTask SharedCommunicator::all_gather_in_pieces(Collective c) {
  const auto max_count = Board::piece_bytes / width_of(c);
  const auto longest = *std::ranges::max_element(c.counts);
  const auto here = [&](std::size_t rank, std::size_t first) {
    return c.counts[rank] > first ? std::min(max_count, c.counts[rank] - first) * width_of(c) : 0;
  };
  const auto self = static_cast<std::size_t>(rank());
  for (std::size_t first = 0; first < longest; first += max_count) {
    const auto k = ++pieces_;
    CounterWait free(board(), Board::piece_done, k - Board::piece_slots);
    co_await free;
    copy_bytes(board().piece(board().self(), k % Board::piece_slots), byte_pointer(c.part) + first * width_of(c),
               here(self, first));
    board().reach(Board::piece_written, k);
    CounterWait in(board(), Board::piece_written, k);
    co_await in;
    auto* to = byte_pointer(c.buffer.data) + first * width_of(c);
    for (int other = 0; other < board().size(); ++other) {
      const auto r = static_cast<std::size_t>(other);
      copy_bytes(to, board().piece(other, k % Board::piece_slots), here(r, first));
      to += c.counts[r] * width_of(c);
    }
    board().reach(Board::piece_done, k);
  }
}

CollectiveTask SharedCommunicator::broadcast_task(Collective c) {
  const bool is_root = rank() == c.root;
  const auto entered = announce(c, c.buffer.data, is_root ? c.buffer.bytes() : 0);
  const auto number = entered.number();
  CounterWait from_root(board(), Board::announced, number, c.root);
  co_await from_root;
  entered.require_alike(c, step(), c.root);
  if (board().announcement(c.root, number).location.kind == DataLocation::Kind::pieces) {
    auto rest = broadcast_in_pieces(c);
    while (rest.advance()) co_await *rest.awaited();
  } else if (!is_root) {
    copy_bytes(c.buffer.data, entered.data_of(c.root), c.buffer.bytes());
  }
  board().reach(Board::finished, number);
  CounterWait done(board(), Board::finished, number);
  if (entered.mine().kind == DataLocation::Kind::direct) co_await done;
}

CollectiveTask SharedCommunicator::broadcast_in_pieces(Collective c) {
  const bool is_root = rank() == c.root;
  for (std::size_t first = 0; first < c.buffer.bytes(); first += Board::piece_bytes) {
    const auto bytes = std::min(Board::piece_bytes, c.buffer.bytes() - first);
    const auto k = ++pieces_;
    auto* const piece = board().piece(c.root, k % Board::piece_slots);
    auto* const data = byte_pointer(c.buffer.data) + first;
    CounterWait free(board(), Board::piece_done, k - Board::piece_slots);
    if (is_root) {
      co_await free;
      copy_bytes(piece, data, bytes);
    }
    board().reach(Board::piece_written, k);
    CounterWait in(board(), Board::piece_written, k, c.root);
    co_await in;
    if (!is_root) copy_bytes(data, piece, bytes);
    board().reach(Board::piece_done, k);
  }
}

CollectiveTask SharedCommunicator::barrier_task(Collective c) {
  const auto entered = announce(c, nullptr, 0);
  const auto number = entered.number();
  CounterWait all(board(), Board::announced, number);
  co_await all;
  entered.require_alike(c, step());
  board().reach(Board::finished, number);
}

}  // namespace trainrt::comm
