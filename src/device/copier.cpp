#include "device/copier.hpp"

#include <fmt/format.h>

#include "device/device_error.hpp"

namespace trainrt::device {

Copier::~Copier() {
  lanes_.clear();
  for (const auto memory : pinned_) runtime_.unpin(memory);
}

void Copier::follow_default_streams() {
  const std::lock_guard lock(mutex_);
  ++follows_;
}

void Copier::to_host(void* to, const void* from, int gpu, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  stream_of(gpu).to_host(to, from, bytes);
}

void Copier::to_device(void* to, int gpu, const void* from, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  stream_of(gpu).to_device(to, from, bytes);
}

Events Copier::record() {
  const std::lock_guard lock(mutex_);
  Events events;
  for (auto& [gpu, lane] : lanes_) events.push_back(lane.stream->record());
  return events;
}

void Copier::pin(std::span<std::byte> memory) {
  const std::lock_guard lock(mutex_);
  if (!pin_requested_.insert(memory.data()).second) return;
  if (runtime_.pin(memory)) pinned_.push_back(memory);
}

Stream& Copier::stream_of(int gpu) {
  auto& lane = lanes_[gpu];
  if (lane.stream == nullptr) lane.stream = runtime_.make_stream(gpu);
  if (lane.follows != follows_) lane.stream->wait_for(*runtime_.default_stream(gpu)->record());
  lane.follows = follows_;
  return *lane.stream;
}

void wait_all(const Events& events, double limit_seconds, std::string_view operation) {
  for (const auto& event : events)
    if (!wait_within(*event, limit_seconds))
      throw GpuStalled(fmt::format("{}: the GPU did not finish within {} s", operation, limit_seconds));
}

}  // namespace trainrt::device
