#include "comm/nccl/nccl_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/comm_error.hpp"
#include "comm/queued_communicator.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"

namespace trainrt::comm::nccl {

namespace {

using Kind = Collective::Kind;

/// Buffers that are reduced along the tree over rank numbers are divided into pieces of at most this size in bytes, which
/// limits the size of the scratch memory.
constexpr std::size_t piece_bytes = std::size_t{32} << 20;

/// A collective that was enqueued on the communicator's NCCL stream. The collective is complete when `event` is reached.
class NcclCollective : public DeviceCollective {
 public:
  NcclCollective(device::Stream& default_stream, std::shared_ptr<device::Event> event)
      : default_stream_(default_stream), event_(std::move(event)) {}
  bool advance(Until until) override {
    if (until == Until::blocked) return event_->test();
    default_stream_.wait_for(*event_);
    return true;
  }

 private:
  device::Stream& default_stream_;
  std::shared_ptr<device::Event> event_;
};

Type type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return Type::f64;
    case DType::f32:
      return Type::f32;
    case DType::f16:
      return Type::f16;
    case DType::bf16:
      return Type::bf16;
    case DType::i64:
      return Type::i64;
    default:
      return Type::i32;
  }
}

bool is_integer(DType dtype) { return dtype == DType::i64 || dtype == DType::i32; }

/// Returns NCCL's operation for a reduction. The mean of integers is computed as a sum; finish_integer_mean() then divides
/// the sum, rounding toward zero.
RedOp red_op(const Collective& c) {
  if (c.op == Op::min) return RedOp::min;
  if (c.op == Op::max) return RedOp::max;
  return c.op == Op::mean && !is_integer(c.buffer.dtype) ? RedOp::avg : RedOp::sum;
}

std::byte* element(const Collective& c, std::size_t index) {
  return static_cast<std::byte*>(c.buffer.data) + index * size_of(c.buffer.dtype);
}

/// Returns the range of elements of each rank's part, in rank order. `counts`: number of elements of each part.
std::vector<ElementRange> ranges_of(std::span<const std::size_t> counts) {
  std::vector<ElementRange> ranges;
  std::size_t first = 0;
  for (const auto count : counts) ranges.push_back({std::exchange(first, first + count), count});
  return ranges;
}

/// Collects the results of several NCCL calls and returns the first failure.
class FirstFailure {
 public:
  void add(Result result) {
    if (first_ == Result::success || first_ == Result::in_progress) first_ = result;
  }
  Result result() const { return first_; }

 private:
  Result first_ = Result::success;
};

}  // namespace

NcclCommunicator::NcclCommunicator(std::unique_ptr<Communicator> host, std::shared_ptr<const Api> api,
                                   device::Runtime& runtime, int gpu, const NcclOptions& options)
    : DeviceCommunicator(std::move(host), runtime, gpu), api_(std::move(api)), options_(options) {}

std::unique_ptr<Communicator> NcclCommunicator::split(int color, int key) {
  auto part = host().split(color, key);
  if (part == nullptr) return nullptr;
  return std::make_unique<NcclCommunicator>(std::move(part), api_, runtime(), gpu(), options_);
}

void NcclCommunicator::require_usable() {
  if (nccl_) nccl_->require_usable();
}

/// Creates the NCCL communicator if it does not exist yet. Collective: fails on all ranks or on no rank.
void NcclCommunicator::connect() {
  if (nccl_) return;
  UniqueId id{};
  std::string failure;
  bool overdue = false;
  if (rank() == 0 && api_->get_unique_id(&id) != Result::success)
    failure = "ncclGetUniqueId failed; NCCL needs a network interface";
  host().broadcast(Buffer{id.bytes, sizeof id.bytes, DType::u8}, 0, "NCCL's id");
  std::unique_ptr<NcclHandle> joined;
  if (host().all_reduced(std::int64_t{!failure.empty()}, Op::max) == 0) try {
      runtime().use(gpu());
      stream_ = runtime().make_stream(gpu());
      joined = std::make_unique<NcclHandle>(api_, id, NcclHandle::Member{rank(), size(), gpu(), options_.timeout_seconds});
    } catch (const Error& error) {
      failure = error.what();
      overdue = dynamic_cast<const CollectiveTimeout*>(&error) != nullptr;
    }
  std::vector<std::string> failures;
  for (const auto& text : host().all_gather(failure))
    if (!text.empty()) failures.push_back(text);
  if (!failures.empty()) {
    const auto text = join(failures, "\n");
    if (host().all_reduced(std::int64_t{overdue}, Op::max) == 0) throw Error(text);
    throw CollectiveTimeout(text);
  }
  nccl_ = std::move(joined);
}

std::unique_ptr<DeviceCollective> NcclCommunicator::begin(const Collective& collective) {
  connect();
  stream_->wait_for(*default_stream().record());
  enqueue(collective);
  auto event = stream_->record();
  nccl_->watch(event, fmt::format("{} at step {}", described(collective), step()));
  return std::make_unique<NcclCollective>(default_stream(), std::move(event));
}

void NcclCommunicator::enqueue(const Collective& collective) {
  if (collective.buffer.count == 0) return;
  if (collective.kind == Kind::all_reduce)
    must_follow_tree(collective) ? all_reduce_along_tree(collective) : all_reduce(collective);
  else if (collective.kind == Kind::reduce_scatter)
    must_follow_tree(collective) ? reduce_scatter_along_tree(collective) : reduce_scatter(collective);
  else if (collective.kind == Kind::all_gather)
    gather_ranges(collective, ranges_of(collective.counts), collective.part);
  else
    broadcast(collective);
}

// --- collectives that NCCL itself reduces -------------------------------------------------------------------------------

void NcclCommunicator::all_reduce(const Collective& c) {
  nccl_->enqueue(described(c), [&](const Api& api, Comm* comm) {
    return api.all_reduce(c.buffer.data, c.buffer.data, c.buffer.count, type_of(c.buffer.dtype), red_op(c), comm,
                          stream_->handle());
  });
  finish_integer_mean(c, c.buffer.data, c.buffer.count);
}

/// Performs a reduce-scatter with NCCL. The parts of the ranks may have different lengths, so one reduction per rank is
/// enqueued, all in one NCCL group.
void NcclCommunicator::reduce_scatter(const Collective& c) {
  const auto ranges = ranges_of(c.counts);
  nccl_->enqueue(described(c), [&](const Api& api, Comm* comm) {
    FirstFailure calls;
    for (std::size_t to = 0; to < ranges.size(); ++to)
      if (ranges[to].count > 0)
        calls.add(api.reduce(element(c, ranges[to].first), c.part, ranges[to].count, type_of(c.buffer.dtype), red_op(c),
                             static_cast<int>(to), comm, stream_->handle()));
    return calls.result();
  });
  finish_integer_mean(c, c.part, c.counts[static_cast<std::size_t>(rank())]);
}

/// Performs an all-gather with NCCL: copies the data of each rank's range to the same range of the buffer on every rank.
/// `ranges`: range of each rank. `own`: the data of this rank's range.
void NcclCommunicator::gather_ranges(const Collective& c, const std::vector<ElementRange>& ranges, const void* own) {
  nccl_->enqueue(described(c), [&](const Api& api, Comm* comm) {
    FirstFailure calls;
    for (std::size_t from = 0; from < ranges.size(); ++from)
      if (ranges[from].count > 0)
        calls.add(api.broadcast(own, element(c, ranges[from].first), ranges[from].count * size_of(c.buffer.dtype), Type::u8,
                                static_cast<int>(from), comm, stream_->handle()));
    return calls.result();
  });
}

void NcclCommunicator::broadcast(const Collective& c) {
  nccl_->enqueue(described(c), [&](const Api& api, Comm* comm) {
    return api.broadcast(c.buffer.data, c.buffer.data, c.buffer.bytes(), Type::u8, c.root, comm, stream_->handle());
  });
}

void NcclCommunicator::finish_integer_mean(const Collective& c, void* values, std::size_t count) {
  if (c.op != Op::mean || !is_integer(c.buffer.dtype) || count == 0) return;
  stream_->reduce({.parts = values,
                   .stride = count,
                   .ranks = 1,
                   .out = values,
                   .count = count,
                   .dtype = c.buffer.dtype,
                   .op = Op::sum,
                   .divide_by = size()});
}

// --- reductions along the tree over rank numbers ----------------------------------------------------------------------

/// Returns whether a reduction must be computed along the tree over rank numbers, and not by NCCL's own reduction. Always
/// false for integers, because their sums are the same in any order.
bool NcclCommunicator::must_follow_tree(const Collective& c) const {
  if (is_integer(c.buffer.dtype)) return false;
  return options_.deterministic || c.op == Op::min || c.op == Op::max;
}

/// All-reduces along the tree over rank numbers: each rank receives its share of the elements from all ranks, reduces the
/// share, and sends the result to all ranks.
void NcclCommunicator::all_reduce_along_tree(const Collective& c) {
  const auto max_count = std::max(piece_bytes / size_of(c.buffer.dtype), static_cast<std::size_t>(size()));
  for (std::size_t done = 0; done < c.buffer.count; done += max_count) {
    const auto count = std::min(max_count, c.buffer.count - done);
    std::vector<ElementRange> shares;
    for (int r = 0; r < size(); ++r) {
      const auto share = share_of(count, r, size());
      shares.push_back({done + share.first, share.count});
    }
    auto* const own = element(c, shares[static_cast<std::size_t>(rank())].first);
    exchange_and_reduce(c, shares, own);
    gather_ranges(c, shares, own);
  }
}

void NcclCommunicator::reduce_scatter_along_tree(const Collective& c) {
  const auto max_count = std::max<std::size_t>(piece_bytes / size_of(c.buffer.dtype) / c.counts.size(), 1);
  const auto longest = *std::max_element(c.counts.begin(), c.counts.end());
  for (std::size_t done = 0; done < longest; done += max_count) {
    std::vector<ElementRange> pieces;
    for (const auto range : ranges_of(c.counts)) {
      const auto skipped = std::min(done, range.count);
      pieces.push_back({range.first + skipped, std::min(max_count, range.count - skipped)});
    }
    exchange_and_reduce(c, pieces, static_cast<std::byte*>(c.part) + done * size_of(c.buffer.dtype));
  }
}

/// Sends the range pieces[r] of the buffer to each rank r. Reduces the data received for this rank's range, along the tree
/// over rank numbers, into `out`. The buffer is changed only if `out` is part of it.
void NcclCommunicator::exchange_and_reduce(const Collective& c, const std::vector<ElementRange>& pieces, void* out) {
  const auto self = static_cast<std::size_t>(rank());
  const auto mine = pieces[self];
  const auto width = size_of(c.buffer.dtype);
  const auto type = type_of(c.buffer.dtype);
  auto* const parts = scratch(mine.count * width * pieces.size());
  if (mine.count > 0) stream_->within_device(parts + self * mine.count * width, element(c, mine.first), mine.count * width);
  nccl_->enqueue(described(c), [&](const Api& api, Comm* comm) {
    FirstFailure calls;
    for (std::size_t other = 0; other < pieces.size(); ++other) {
      if (other == self) continue;
      const auto peer = static_cast<int>(other);
      if (pieces[other].count > 0)
        calls.add(api.send(element(c, pieces[other].first), pieces[other].count, type, peer, comm, stream_->handle()));
      if (mine.count > 0)
        calls.add(api.recv(parts + other * mine.count * width, mine.count, type, peer, comm, stream_->handle()));
    }
    return calls.result();
  });
  if (mine.count == 0) return;
  stream_->reduce({.parts = parts,
                   .stride = mine.count,
                   .ranks = size(),
                   .out = out,
                   .count = mine.count,
                   .dtype = c.buffer.dtype,
                   .op = c.op,
                   .divide_by = c.op == Op::mean ? size() : 1});
}

/// Returns scratch memory of at least `bytes` bytes on the GPU. The memory can be reused at once, because the NCCL stream
/// orders all uses of it.
std::byte* NcclCommunicator::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_ = runtime().allocate(gpu(), bytes);
    scratch_bytes_ = bytes;
    stream_->wait_for(*default_stream().record());  // allocate() zeroes the memory on the default stream
  }
  return scratch_.get();
}

}  // namespace trainrt::comm::nccl
