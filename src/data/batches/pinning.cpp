#include "data/batches/pinning.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t smallest = 16 << 10;  // bytes; a copy of less takes no time
constexpr int most_moves = 4;               // locking costs more than the copies of a few batches gain

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
  values.clear();  // what it held is replaced, and need not be copied
  values.reserve(bytes);
}

void PinnedValues::follow(const Pinning& pinning, std::vector<std::byte>& values) {
  if (memory_.data() == values.data() && memory_.size() == values.capacity()) return;
  release();
  memory_ = {values.data(), values.capacity()};
  if (memory_.size() < smallest || moves_ == most_moves) return;
  ++moves_;
  if (pinning.pin(memory_)) pinning_ = &pinning;
}

void PinnedValues::release() {
  if (pinning_ != nullptr) pinning_->unpin(memory_);
  pinning_ = nullptr;
  memory_ = {};
}

}  // namespace trainrt::data
