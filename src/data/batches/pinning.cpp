#include "data/batches/pinning.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t min_pinned_bytes = 16 << 10;  // bytes; smaller batches are copied fast enough without pinned memory
constexpr int max_moves = 4;  // memory whose address changes more often is not pinned, because pinning takes time

}  // namespace

PinnedValues& PinnedValues::operator=(PinnedValues&& other) noexcept {
  if (this == &other) return *this;
  release();
  pinning_ = std::exchange(other.pinning_, nullptr);
  memory_ = std::exchange(other.memory_, {});
  moves_ = other.moves_;
  return *this;
}

void PinnedValues::make_room(std::vector<std::byte>& values, std::size_t bytes) {
  if (values.capacity() >= bytes) return;
  release();
  values.clear();  // reserve() would copy the old values
  values.reserve(bytes);
}

void PinnedValues::pin(const Pinning& pinning, std::vector<std::byte>& values) {
  if (memory_.data() == values.data() && memory_.size() == values.capacity()) return;
  release();
  memory_ = {values.data(), values.capacity()};
  if (memory_.size() < min_pinned_bytes || moves_ == max_moves) return;
  ++moves_;
  if (pinning.pin(memory_)) pinning_ = &pinning;
}

void PinnedValues::release() {
  if (pinning_ != nullptr) pinning_->unpin(memory_);
  pinning_ = nullptr;
  memory_ = {};
}

}  // namespace trainrt::data
