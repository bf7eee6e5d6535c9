#include "data/bytes/spare_chunks.hpp"

#include <algorithm>
#include <utility>

namespace trainrt::data {

SpareChunks::Values SpareChunks::kept(std::vector<std::byte> values) {
  auto owned = std::make_unique<std::vector<std::byte>>(std::move(values));
  return {owned.release(), [home = weak_from_this()](std::vector<std::byte>* gone) {
            const std::unique_ptr<std::vector<std::byte>> ends(gone);
            if (const auto spare = home.lock()) spare->give(std::move(*ends));
          }};
}

std::vector<std::byte> SpareChunks::take(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  const auto suits = [&](const auto& one) { return one.capacity() >= bytes && one.capacity() - bytes <= bytes / 8; };
  const auto found = std::ranges::find_if(spare_, suits);
  if (found == spare_.end()) {
    lock.unlock();
    return std::vector<std::byte>(bytes);
  }
  auto taken = std::move(*found);
  spare_.erase(found);
  bytes_ -= taken.capacity();
  lock.unlock();
  taken.resize(bytes);
  return taken;
}

void SpareChunks::allow(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (allowed_ = bytes; bytes_ > allowed_; spare_.pop_back()) bytes_ -= spare_.back().capacity();
}

void SpareChunks::give(std::vector<std::byte> values) {
  const std::lock_guard lock(mutex_);
  if (values.capacity() > allowed_ || bytes_ > allowed_ - values.capacity()) return;
  bytes_ += values.capacity();
  spare_.push_back(std::move(values));
}

}  // namespace trainrt::data
