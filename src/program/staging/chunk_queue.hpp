#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace trainrt::program::stage {

/// Consecutive bytes of the folder, tar file or image that program.stage copies to the nodes.
using Chunk = std::vector<char>;

/// Exception that ends the thread of a Worker after ChunkQueue::cancel().
struct Cancelled {};

/// A bounded queue of chunks between two threads. After cancel(), push(), pop() and pop_within() throw Cancelled, and
/// has_room_within() returns false.
class ChunkQueue {
 public:
  static constexpr std::size_t max_chunks = 2;

  void push(Chunk chunk) {  ///< waits while the queue is full
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return cancelled_ || chunks_.size() < max_chunks; });
    throw_if_cancelled();
    chunks_.push_back(std::move(chunk));
    changed_.notify_all();
  }
  /// Declares that no more chunks will be pushed.
  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }
  std::optional<Chunk> pop();                       ///< waits for a chunk; returns nothing at the end
  std::optional<Chunk> pop_within(double seconds);  ///< returns nothing after this time, or at the end
  bool has_room_within(double seconds);
  bool is_at_end() const {
    const std::lock_guard lock(mutex_);
    return finished_ && chunks_.empty();
  }

 private:
  void throw_if_cancelled() const {
    if (cancelled_) throw Cancelled();
  }
  std::optional<Chunk> take() {
    throw_if_cancelled();
    if (chunks_.empty()) return std::nullopt;
    std::optional<Chunk> first(std::move(chunks_.front()));
    chunks_.pop_front();
    changed_.notify_all();
    return first;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Chunk> chunks_;
  bool finished_ = false;
  bool cancelled_ = false;
};

}  // namespace trainrt::program::stage
