#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/aligned_memory.hpp"

namespace trainrt::io {

class BlockPool;

/// A buffer out of a pool; goes back when it is destroyed.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Block();
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  friend class BlockPool;
  Block(BlockPool* pool, std::span<std::byte> bytes) : pool_(pool), bytes_(bytes) {}
  BlockPool* pool_ = nullptr;
  std::span<std::byte> bytes_;
};

/// Aligned buffers of one size, never more memory than the limit (but always two of them): where all are out, take() waits
/// until one comes back. Buffers are made when they are first needed and kept. Thread-safe. Outlives its blocks. Throws
/// Error where the system has no memory for one more.
class BlockPool {
 public:
  /// `made` sees every buffer once, before it is handed out; any thread calls it. It must not throw.
  BlockPool(std::size_t block_bytes, std::uint64_t limit_bytes, std::function<void(std::span<std::byte>)> made = {});
  BlockPool(const BlockPool&) = delete;

  std::size_t block_bytes() const { return block_bytes_; }
  std::size_t blocks() const { return limit_; }  ///< at most

  Block take();
  /// nullopt where none came back within so many seconds.
  std::optional<Block> take_within(double seconds);
  /// Makes so many buffers now, as far as the limit goes, so that the first save does not pay for it.
  void prepare(std::size_t blocks);

 private:
  friend class Block;
  void give_back(std::span<std::byte> bytes);
  bool available() const { return !free_.empty() || count_ < limit_; }
  Block take_available(std::unique_lock<std::mutex>& lock);
  std::span<std::byte> make(std::unique_lock<std::mutex>& lock);

  std::size_t block_bytes_;
  std::size_t limit_;
  std::function<void(std::span<std::byte>)> made_hook_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::size_t count_ = 0;  // buffers that are made or being made
  std::vector<AlignedMemory> made_;
  std::vector<std::span<std::byte>> free_;
};

}  // namespace trainrt::io
