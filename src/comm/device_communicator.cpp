#include "comm/device_communicator.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/queued_communicator.hpp"

namespace trainrt::comm {

namespace {

/// A collective on host memory, which the wrapped communicator for host memory performs.
class HostCollective : public DeviceCollective {
 public:
  HostCollective(Communicator& host, const Collective& collective) : host_(host), collective_(collective) {}

  bool advance(Until until) override {
    if (!started_) ticket_ = host_.start(collective_);
    started_ = true;
    if (until == Until::blocked) return host_.test(ticket_);
    host_.wait(ticket_);
    return true;
  }
  bool has_started_on_host() const override { return started_; }

 private:
  Communicator& host_;
  Collective collective_;
  Communicator::Ticket ticket_ = 0;
  bool started_ = false;
};

}  // namespace

DeviceCommunicator::DeviceCommunicator(std::unique_ptr<Communicator> host, device::Runtime& runtime, int gpu)
    : Communicator(host->rank(), host->size()), host_(std::move(host)), runtime_(runtime), gpu_(gpu) {}

DeviceCommunicator::Ticket DeviceCommunicator::start(const Collective& collective) {
  require_usable();
  require_valid(collective, rank(), size());
  if (collective.buffer.device == Device::host || collective.kind == Collective::Kind::barrier) {
    in_progress_.push_back(std::make_unique<HostCollective>(*host_, collective));
  } else {
    require_here(collective);
    in_progress_.push_back(begin(collective));
  }
  ++started_;
  advance();
  return started_;
}

bool DeviceCommunicator::test(Ticket ticket) {
  require_usable();
  advance();
  return completed_ >= ticket;
}

void DeviceCommunicator::wait(Ticket ticket) {
  require_usable();
  advance();
  while (completed_ < std::min(ticket, started_)) {
    in_progress_.front()->advance(DeviceCollective::Until::complete);
    in_progress_.pop_front();
    ++completed_;
  }
  require_usable();
}

/// Advances the collectives in the order of their start and removes the complete ones. A collective waits until all earlier
/// ones have called the communicator for host memory, because all ranks must make these calls in the same order.
void DeviceCommunicator::advance() {
  std::size_t complete = 0;
  bool all_before = true;
  for (const auto& collective : in_progress_) {
    all_before = collective->advance(DeviceCollective::Until::blocked) && all_before;
    if (all_before) ++complete;
    if (!collective->has_started_on_host()) break;
  }
  in_progress_.erase(in_progress_.begin(), in_progress_.begin() + static_cast<std::ptrdiff_t>(complete));
  completed_ += complete;
}

Memory DeviceCommunicator::allocate(std::size_t bytes, Device device) {
  return device == Device::host ? host_->allocate(bytes, device) : runtime_.allocate(gpu_, bytes);
}

void DeviceCommunicator::at_step(std::int64_t step) {
  step_ = step;
  host_->at_step(step);
}

device::Stream& DeviceCommunicator::default_stream() {
  if (default_stream_ == nullptr) default_stream_ = runtime_.default_stream(gpu_);
  return *default_stream_;
}

void DeviceCommunicator::require_here(const Collective& collective) {
  if (collective.buffer.count > 0) require_here(collective, collective.buffer.data);
  if (!collective.counts.empty() && collective.counts[static_cast<std::size_t>(rank())] > 0)
    require_here(collective, collective.part);
}

void DeviceCommunicator::require_here(const Collective& collective, const void* memory) {
  const auto owner = runtime_.owner_of(memory);
  if (owner == gpu_) return;
  throw UsageError(fmt::format("{}: its memory is {}, but rank {} communicates on GPU {}", described(collective),
                               owner ? fmt::format("on GPU {}", *owner) : "declared as GPU memory but is not on a GPU",
                               rank(), gpu_));
}

}  // namespace trainrt::comm
