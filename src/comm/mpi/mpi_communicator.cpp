#include "comm/mpi/mpi_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <exception>
#include <numeric>
#include <utility>

#include "comm/element_range.hpp"
#include "comm/mpi/mpi_call.hpp"
#include "comm/mpi/mpi_lane.hpp"
#include "comm/reduce.hpp"
#include "core/host.hpp"

namespace trainrt::comm {

namespace {

/// Maximum size of a buffer, in bytes, for recursive doubling, which sends few messages but the complete buffer in each.
constexpr std::size_t short_bytes = 16384;
constexpr int tags_of_a_collective = 2;
/// Number of consecutive collectives with different MPI tags. The MPI standard guarantees tags up to 32767.
constexpr int collectives_in_tags = 8000;

std::byte* bytes_of(void* data) { return static_cast<std::byte*>(data); }

/// The share of a buffer's elements that one rank reduces.
struct Share {
  std::byte* data;
  std::size_t count;
  std::size_t bytes;
};
Share share_of_rank(const Buffer& buffer, int rank, int size) {
  const auto width = size_of(buffer.dtype);
  const auto [first, count] = share_of(buffer.count, rank, size);
  return {bytes_of(buffer.data) + first * width, count, count * width};
}

}  // namespace

// --- waiting for MPI requests --------------------------------------------------------------------------------------------

bool MpiRequests::ready() {
  int done = 0;
  check_mpi(mpi().Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE));
  return done != 0;
}

/// Sleeps for 1 % of the time since the first sleep, at most max_sleep_s. The sleep is short because an arriving message
/// does not end it. A sleep costs about 0.04 ms of CPU time: after 10 s, the waiting rank uses about 0.04 % of a core.
void MpiRequests::sleep(double max_seconds) {
  roll_call_.answer();
  constexpr double min_s = 50e-6;
  const double now = monotonic_seconds();
  if (first_sleep_s_ == 0) first_sleep_s_ = now;
  const double seconds = std::min(std::clamp((now - first_sleep_s_) / 100, min_s, max_sleep_s), max_seconds);
  const timespec pause{0, static_cast<long>(seconds * 1e9)};
  nanosleep(&pause, nullptr);
}

std::string MpiRequests::missing() { return roll_call_.missing(); }

// --- construction and destruction of the communicator --------------------------------------------------------------------

MpiCommunicator::MpiCommunicator(MPI_Comm parent, double timeout_seconds, Finalize finalize,
                                 std::function<bool()> can_finalize)
    : QueuedCommunicator(mpi_rank(parent), mpi_size(parent), timeout_seconds),
      finalize_(finalize),
      can_finalize_(std::move(can_finalize)),
      comm_(mpi_duplicate(parent)),
      maximum_comm_(mpi_duplicate(parent)),
      roll_call_(std::make_unique<MpiRollCall>(parent)) {}

/// Finalizes MPI if the constructor's argument `finalize` requests it and no collective has failed. MPI is not finalized
/// during stack unwinding: the other ranks do not make the same calls, and MPI_Finalize would hang.
MpiCommunicator::~MpiCommunicator() {
  if (std::uncaught_exceptions() > 0 || is_broken() || abandoned_) return;
  int finalized = 0;
  if (mpi().Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;  // the program has finalized MPI
  try {
    drain();
    if (maximum_requests_) wait_for(*maximum_requests_, "maximum");
    if (finalize_ != Finalize::by_program) barrier("end");  // see finalize_policy() in start_mpi.cpp for the reason
  } catch (const std::exception&) {
    return;
  }
  roll_call_->close();
  mpi().Comm_free(&maximum_comm_);
  mpi().Comm_free(&comm_);
  if (finalize_ == Finalize::with_communicator && (!can_finalize_ || can_finalize_())) mpi().Finalize();
}

void MpiCommunicator::at_step(std::int64_t step) {
  QueuedCommunicator::at_step(step);
  roll_call_->note(collectives_, step);
}

std::unique_ptr<MpiCommunicator> MpiCommunicator::split_mpi(int color, int key) {
  barrier("split");  // barrier() has a timeout, unlike MPI_Comm_split
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(mpi().Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &part));
  if (part == MPI_COMM_NULL) return nullptr;
  auto communicator = std::make_unique<MpiCommunicator>(part, timeout_seconds(), Finalize::by_program);
  mpi().Comm_free(&part);
  return communicator;
}

void MpiCommunicator::start_maximum(const Maximum& mine) {
  my_maximum_ = mine;
  maximum_requests_ = std::make_unique<MpiRequests>(*roll_call_);
  check_mpi(mpi().Iallreduce(my_maximum_.data(), maximum_.data(), static_cast<int>(maximum_.size()), MPI_INT64_T, MPI_MAX,
                             maximum_comm_, maximum_requests_->add()));
}

MpiCommunicator::Maximum MpiCommunicator::finish_maximum(std::string_view name) {
  wait_for(*maximum_requests_, name);
  return maximum_;
}

// --- coroutines of the collectives ---------------------------------------------------------------------------------------

CollectiveTask MpiCommunicator::make_task(Collective c) {
  if (in_flight() >= collectives_in_tags / 2) drain();  // two collectives in progress must not have the same tag
  const int tag = static_cast<int>(++collectives_ % collectives_in_tags) * tags_of_a_collective;
  roll_call_->note(collectives_, step());
  switch (c.kind) {
    case Collective::Kind::all_reduce:
      return c.buffer.bytes() > short_bytes ? reduce_long(c.buffer, c.op, tag) : reduce_short(c.buffer, c.op, tag);
    case Collective::Kind::reduce_scatter:
      return reduce_scatter_task(c, tag);
    case Collective::Kind::all_gather:
      return all_gather_task(c, tag);
    case Collective::Kind::broadcast:
      return broadcast_task(c);
    default:
      return barrier_task(c);
  }
}

/// All-reduces a short buffer by recursive doubling. At level k, blocks of 2^k ranks have the same sum, and each rank
/// exchanges this sum with a rank of the neighbouring block. If the right block has fewer ranks than the left one, each of
/// its ranks sends to several ranks of the left block.
CollectiveTask MpiCommunicator::reduce_short(Buffer buffer, Op op, int tag) {
  const auto type = accumulator_of(buffer.dtype);
  std::vector<std::byte> own(buffer.count * size_of(type)), other(own.size());
  if (type == buffer.dtype) {
    std::copy_n(bytes_of(buffer.data), own.size(), own.data());
  } else {
    widen(bytes_of(buffer.data), reinterpret_cast<float*>(own.data()), buffer.count, buffer.dtype);
  }
  const TreeStep step{0, 1};
  for (int block = 1; block < size(); block *= 2) {
    const int base = rank() / (2 * block) * (2 * block);
    const int right = base + block;
    if (right >= size()) continue;
    const int right_count = std::min(block, size() - right);
    const bool lower = rank() < right;
    std::vector<int> to;
    if (lower && rank() - base < right_count) to.push_back(right + rank() - base);
    for (int left = rank() - right; !lower && left < block; left += right_count) to.push_back(base + left);
    const int from = lower ? right + (rank() - base) % right_count : to.front();
    MpiRequests exchange(*roll_call_);
    MpiLane{comm_, from, tag}.receive(other.data(), other.size(), exchange);
    for (const int peer : to) MpiLane{comm_, peer, tag}.send(own.data(), own.size(), exchange);
    co_await exchange;
    if (!lower) own.swap(other);  // so that `own` is the sum of the lower block
    std::byte* const parts[] = {own.data(), other.data()};
    combine_in_place(parts, buffer.count, type, op, {&step, 1});
  }
  finish_mean({own.data(), buffer.count, type}, op, size());
  if (type == buffer.dtype)
    std::copy_n(own.data(), own.size(), bytes_of(buffer.data));
  else
    narrow(reinterpret_cast<const float*>(own.data()), bytes_of(buffer.data), buffer.count, buffer.dtype);
}

/// All-reduces a long buffer. Each rank is responsible for a share of the elements: it receives these elements from all
/// ranks, combines them in the fixed order of tree_steps(), and sends the results to all ranks.
CollectiveTask MpiCommunicator::reduce_long(Buffer buffer, Op op, int tag) {
  const auto steps = tree_steps(size());
  const auto mine = share_of_rank(buffer, rank(), size());
  std::vector<std::byte> received(mine.bytes * static_cast<std::size_t>(size()));
  std::vector<std::byte*> parts;
  MpiRequests scatter(*roll_call_);
  for (int other = 0; other < size(); ++other) {
    parts.push_back(other == rank() ? mine.data : received.data() + mine.bytes * static_cast<std::size_t>(other));
    if (other == rank()) continue;
    const MpiLane lane{comm_, other, tag};
    lane.receive(parts.back(), mine.bytes, scatter);
    const auto theirs = share_of_rank(buffer, other, size());
    lane.send(theirs.data, theirs.bytes, scatter);
  }
  co_await scatter;
  reduce_to(parts, {&mine.data, 1}, mine.count, buffer.dtype, op, steps, size());
  MpiRequests gather(*roll_call_);
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    const MpiLane lane{comm_, other, tag + 1};
    const auto theirs = share_of_rank(buffer, other, size());
    lane.receive(theirs.data, theirs.bytes, gather);
    lane.send(mine.data, mine.bytes, gather);
  }
  co_await gather;
}

CollectiveTask MpiCommunicator::reduce_scatter_task(Collective c, int tag) {
  const auto width = size_of(c.buffer.dtype);
  const auto bytes = c.counts[static_cast<std::size_t>(rank())] * width;
  std::vector<std::byte> received(bytes * static_cast<std::size_t>(size()));
  std::vector<std::byte*> parts;
  MpiRequests scatter(*roll_call_);
  auto* input = bytes_of(c.buffer.data);
  for (int other = 0; other < size(); ++other) {
    const auto theirs = c.counts[static_cast<std::size_t>(other)] * width;
    parts.push_back(other == rank() ? input : received.data() + bytes * static_cast<std::size_t>(other));
    if (other != rank()) {
      const MpiLane lane{comm_, other, tag};
      lane.receive(parts.back(), bytes, scatter);
      lane.send(input, theirs, scatter);
    }
    input += theirs;
  }
  co_await scatter;
  std::byte* const out = bytes_of(c.part);
  reduce_to(parts, {&out, 1}, bytes / width, c.buffer.dtype, c.op, tree_steps(size()), size());
}

CollectiveTask MpiCommunicator::all_gather_task(Collective c, int tag) {
  const auto width = size_of(c.buffer.dtype);
  const auto bytes = c.counts[static_cast<std::size_t>(rank())] * width;
  MpiRequests gather(*roll_call_);
  auto* output = bytes_of(c.buffer.data);
  for (int other = 0; other < size(); ++other) {
    const auto theirs = c.counts[static_cast<std::size_t>(other)] * width;
    const MpiLane lane{comm_, other, tag};
    if (other == rank()) {
      if (bytes > 0 && output != c.part) std::memmove(output, c.part, bytes);
    } else {
      lane.receive(output, theirs, gather);
      lane.send(c.part, bytes, gather);
    }
    output += theirs;
  }
  co_await gather;
}

CollectiveTask MpiCommunicator::broadcast_task(Collective c) {
  MpiRequests pieces(*roll_call_);
  for (std::size_t done = 0; done < c.buffer.bytes(); done += MpiLane::max_message_bytes)
    check_mpi(mpi().Ibcast(bytes_of(c.buffer.data) + done,
                           static_cast<int>(std::min(MpiLane::max_message_bytes, c.buffer.bytes() - done)), MPI_BYTE,
                           c.root, comm_, pieces.add()));
  co_await pieces;
}

CollectiveTask MpiCommunicator::barrier_task(Collective) {
  MpiRequests all(*roll_call_);
  check_mpi(mpi().Ibarrier(comm_, all.add()));
  co_await all;
}

}  // namespace trainrt::comm
