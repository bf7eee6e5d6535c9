#include "io/files/block_pool.hpp"

#include <algorithm>
#include <chrono>

namespace trainrt::io {

Block::~Block() {
  if (pool_ != nullptr) pool_->give_back(buffer_);
}

BlockPool::BlockPool(std::size_t block_bytes, std::uint64_t limit_bytes,
                     std::function<void(std::span<std::byte>)> on_new_buffer)
    : block_bytes_(static_cast<std::size_t>(align_up(std::max<std::size_t>(block_bytes, 1)))),
      limit_(static_cast<std::size_t>(std::max<std::uint64_t>(limit_bytes / block_bytes_, 2))),
      on_new_buffer_(std::move(on_new_buffer)) {}

Block BlockPool::take(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return available(); });
  return take_available(lock, bytes);
}

std::optional<Block> BlockPool::take_within(double seconds, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  if (!returned_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return available(); })) return std::nullopt;
  return take_available(lock, bytes);
}

void BlockPool::prepare(std::size_t blocks, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  while (count_ < std::min(blocks, limit_)) {
    free_.push_back(make(lock, bytes));
    returned_.notify_one();
  }
}

Block BlockPool::take_available(std::unique_lock<std::mutex>& lock, std::size_t bytes) {
  if (free_.empty()) free_.push_back(make(lock, bytes));
  AlignedMemory* const buffer = free_.back();
  free_.pop_back();
  lock.unlock();
  Block block(this, buffer);
  buffer->touch(bytes);
  block.bytes_ = buffer->bytes().first(static_cast<std::size_t>(align_up(std::min(bytes, block_bytes_))));
  return block;
}

/// Allocates a buffer. Releases `lock` during the allocation, because touching the pages of a large buffer takes long and
/// other threads must be able to return their buffers; `lock` is held again on return.
AlignedMemory* BlockPool::make(std::unique_lock<std::mutex>& lock, std::size_t bytes) {
  ++count_;
  try {
    lock.unlock();
    AlignedMemory memory(block_bytes_, bytes);
    if (on_new_buffer_) on_new_buffer_(memory.bytes());
    lock.lock();
    free_.reserve(buffers_.size() + 1);  // reserves space so that give_back() never allocates memory and cannot fail
    buffers_.push_back(std::move(memory));
    return &buffers_.back();
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    --count_;
    returned_.notify_one();
    throw;
  }
}

void BlockPool::give_back(AlignedMemory* buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);
  returned_.notify_one();
}

}  // namespace trainrt::io
