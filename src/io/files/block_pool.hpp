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

/// A buffer borrowed from a BlockPool, or the first bytes of such a buffer. The destructor returns the buffer to the
/// pool.
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

/// A thread-safe pool of page-aligned buffers of equal size. It owns as many buffers as fit into the memory limit, but at
/// least two. take() waits while all buffers are in use.
///
/// Buffers are allocated when they are first needed and then reused; the part of a buffer that no caller has requested
/// takes no physical memory. The pool must outlive its blocks. Throws StorageError if the system has no memory for
/// another buffer.
class BlockPool {
 public:
  static constexpr std::size_t full = std::numeric_limits<std::size_t>::max();

  /// `block_bytes`: size of each buffer, rounded up to pages. `limit_bytes`: maximum memory of all buffers together.
  /// `on_new_buffer` is called once for each new buffer, before its first use, on the thread that requested the buffer;
  /// it must not throw.
  BlockPool(std::size_t block_bytes, std::uint64_t limit_bytes,
            std::function<void(std::span<std::byte>)> on_new_buffer = {});
  BlockPool(const BlockPool&) = delete;

  std::size_t block_bytes() const { return block_bytes_; }
  std::size_t max_blocks() const { return limit_; }

  /// Returns a block of `bytes` bytes, rounded up to pages and limited to block_bytes(). Waits until a buffer is free.
  Block take(std::size_t bytes = full);
  /// Returns a block like take(), or nullopt if no buffer becomes free within `seconds`.
  std::optional<Block> take_within(double seconds, std::size_t bytes = full);
  /// Allocates buffers in advance, until the pool has `blocks` buffers (at most max_blocks()), so that the first save of
  /// a checkpoint need not allocate them. The first `bytes` bytes of each new buffer are backed by physical memory.
  void prepare(std::size_t blocks, std::size_t bytes = full);

 private:
  friend class Block;
  void give_back(AlignedMemory* buffer);
  bool available() const { return !free_.empty() || count_ < limit_; }
  Block take_available(std::unique_lock<std::mutex>& lock, std::size_t bytes);
  AlignedMemory* make(std::unique_lock<std::mutex>& lock, std::size_t bytes);

  std::size_t block_bytes_;
  std::size_t limit_;
  std::function<void(std::span<std::byte>)> on_new_buffer_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::size_t count_ = 0;  // number of buffers that exist or are being allocated
  std::deque<AlignedMemory> buffers_;
  std::vector<AlignedMemory*> free_;
};

}  // namespace trainrt::io
