#include "comm/staged_communicator.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/comm_error.hpp"
#include "comm/queued_communicator.hpp"
#include "core/host.hpp"

namespace trainrt::comm {

namespace {

using Kind = Collective::Kind;

/// A collective for which the host need do nothing more: it is complete, or all its work is enqueued on the GPU's default
/// stream.
class CompletedCollective : public DeviceCollective {
 public:
  bool advance(Until) override { return true; }
};

struct MemoryRange {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

MemoryRange part_of(const Collective& collective, int rank) {
  return {collective.part, collective.counts[static_cast<std::size_t>(rank)] * size_of(collective.buffer.dtype)};
}

/// Returns the memory range that a collective reads on rank `rank`; empty if it reads nothing.
MemoryRange input_of(const Collective& collective, int rank) {
  if (collective.kind == Kind::all_gather) return part_of(collective, rank);
  if (collective.kind == Kind::broadcast && collective.root != rank) return {};
  return {collective.buffer.data, collective.buffer.bytes()};
}

/// Returns the memory range that a collective writes on rank `rank`; empty if it writes nothing.
MemoryRange output_of(const Collective& collective, int rank) {
  if (collective.kind == Kind::reduce_scatter) return part_of(collective, rank);
  if (collective.kind == Kind::broadcast && collective.root == rank) return {};
  return {collective.buffer.data, collective.buffer.bytes()};
}

}  // namespace

/// A collective that copies its data from the GPU to the host, runs on the host, and copies the result back to the GPU.
class StagedCommunicator::StagedCollective : public DeviceCollective {
 public:
  StagedCollective(StagedCommunicator& owner, const Collective& collective) : owner_(owner), collective_(collective) {
    const auto rank = owner.rank();
    const auto buffer_bytes = aligned(collective.buffer.bytes());
    staging_ = owner.take(buffer_bytes + (collective.counts.empty() ? 0 : aligned(part_of(collective, rank).bytes)));
    on_host_ = collective;
    on_host_.buffer.data = staging_.memory.get();
    on_host_.buffer.device = Device::host;
    on_host_.part = collective.counts.empty() ? nullptr : staging_.memory.get() + buffer_bytes;
    owner.stream().wait_for(*owner.default_stream().record());
    const auto input = input_of(collective, rank);
    owner.stream().to_host(input_of(on_host_, rank).memory, input.memory, input.bytes);
    arrived_ = owner.stream().record();
  }

  bool advance(Until until) override {
    if (complete_) return true;
    if (!started_ && !start(until)) return false;
    if (until == Until::complete)
      owner_.host().wait(ticket_);
    else if (!owner_.host().test(ticket_))
      return false;
    copy_back();
    return true;
  }
  bool has_started_on_host() const override { return started_; }

 private:
  bool start(Until until) {
    if (until == Until::complete)
      owner_.await(*arrived_, collective_);
    else if (!arrived_->test())
      return false;
    ticket_ = owner_.host().start(on_host_);
    started_ = true;
    return true;
  }

  void copy_back() {
    const auto output = output_of(collective_, owner_.rank());
    owner_.stream().to_device(output.memory, output_of(on_host_, owner_.rank()).memory, output.bytes);
    owner_.default_stream().wait_for(*owner_.stream().record());
    owner_.free_.push_back(std::move(staging_));
    complete_ = true;
  }

  StagedCommunicator& owner_;
  Collective collective_;
  Collective on_host_;
  Staging staging_;
  std::shared_ptr<device::Event> arrived_;
  Ticket ticket_ = 0;
  bool started_ = false;
  bool complete_ = false;
};

StagedCommunicator::StagedCommunicator(std::unique_ptr<Communicator> host, device::Runtime& runtime, int gpu,
                                       double timeout_seconds)
    : DeviceCommunicator(std::move(host), runtime, gpu), name_(this->host().name()), timeout_seconds_(timeout_seconds) {}

/// Waits, up to the timeout, for the enqueued copies that still use the pinned staging memory.
StagedCommunicator::~StagedCommunicator() {
  if (stream_ == nullptr) return;
  try {
    device::wait_within(*stream_->record(), timeout_seconds_);
  } catch (const Error&) {  // the GPU has failed and no longer accesses the memory
  }
}

std::unique_ptr<Communicator> StagedCommunicator::split(int color, int key) {
  auto part = host().split(color, key);
  if (part == nullptr) return nullptr;
  return std::make_unique<StagedCommunicator>(std::move(part), runtime(), gpu(), timeout_seconds_);
}

std::unique_ptr<DeviceCollective> StagedCommunicator::begin(const Collective& collective) {
  if (size() > 1) return std::make_unique<StagedCollective>(*this, collective);
  alone(collective);
  return std::make_unique<CompletedCollective>();
}

/// Performs a collective of a communicator with one rank: copies the input to the output on the GPU.
void StagedCommunicator::alone(const Collective& collective) {
  const auto input = input_of(collective, 0);
  const auto output = output_of(collective, 0);
  if (output.memory != nullptr && output.memory != input.memory)
    default_stream().within_device(output.memory, input.memory, output.bytes);
}

device::Stream& StagedCommunicator::stream() {
  if (stream_ == nullptr) stream_ = runtime().make_stream(gpu());
  return *stream_;
}

/// Returns the smallest free buffer of pinned host memory with at least `bytes` bytes, or a new buffer. A free buffer can
/// be reused at once: the stream orders the copies of consecutive collectives, and the host uses a buffer only after the
/// copy to it has finished.
StagedCommunicator::Staging StagedCommunicator::take(std::size_t bytes) {
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it)
    if (it->bytes >= bytes && (best == free_.end() || it->bytes < best->bytes)) best = it;
  if (best == free_.end()) return {runtime().allocate_pinned(bytes), bytes};
  auto staging = std::move(*best);
  free_.erase(best);
  return staging;
}

void StagedCommunicator::await(device::Event& event, const Collective& collective) {
  if (device::wait_within(event, timeout_seconds_)) return;
  throw CollectiveTimeout(fmt::format("{} on rank {} ({}) at step {}: GPU {} has not begun this collective within {} s",
                                      described(collective), rank(), host_name(), step(), gpu(), timeout_seconds_));
}

}  // namespace trainrt::comm
