#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/files/aligned_memory.hpp"

namespace trainrt::io {

class BlockPool;

/// A buffer out of a pool, or the beginning of one; goes back when it is destroyed.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), buffer_(other.buffer_), bytes_(std::exchange(other.bytes_, {})) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(buffer_, other.buffer_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Block();
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  friend class BlockPool;
  Block(BlockPool* pool, AlignedMemory* buffer) : pool_(pool), buffer_(buffer) {}
  BlockPool* pool_ = nullptr;
  AlignedMemory* buffer_ = nullptr;
  std::span<std::byte> bytes_;
};

/// Aligned buffers of one size, never more memory than the limit (but always two of them): if all are out, take() waits
/// until one comes back. Buffers are made when they are first needed and kept; of each, what was never asked for takes no
/// memory. Thread-safe. Outlives its blocks. Throws Error if the system has no memory for one more.
class BlockPool {
 public:
  static constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();

  /// `made` sees every buffer once, before it is handed out; any thread calls it. It must not throw.
  BlockPool(std::size_t block_bytes, std::uint64_t limit_bytes, std::function<void(std::span<std::byte>)> made = {});
  BlockPool(const BlockPool&) = delete;

  std::size_t block_bytes() const { return block_bytes_; }
  std::size_t blocks() const { return limit_; }  ///< at most

  /// So many bytes of a buffer, in whole pages, at most all of it.
  Block take(std::size_t bytes = whole);
  /// nullopt if none came back within so many seconds.
  std::optional<Block> take_within(double seconds, std::size_t bytes = whole);
  /// Makes so many buffers now, as far as the limit goes, so that the first save does not pay for it: with memory for so
  /// many bytes each.
  void prepare(std::size_t blocks, std::size_t bytes = whole);

 private:
  friend class Block;
  void give_back(AlignedMemory* buffer);
  bool available() const { return !free_.empty() || count_ < limit_; }
  Block take_available(std::unique_lock<std::mutex>& lock, std::size_t bytes);
  AlignedMemory* make(std::unique_lock<std::mutex>& lock, std::size_t bytes);

  std::size_t block_bytes_;
  std::size_t limit_;
  std::function<void(std::span<std::byte>)> made_hook_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::size_t count_ = 0;  // buffers that are made or being made
  std::deque<AlignedMemory> made_;
  std::vector<AlignedMemory*> free_;
};

}  // namespace trainrt::io
