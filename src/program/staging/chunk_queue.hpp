#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace trainrt::program::stage {

/// Bytes of a source, in their order.
using Chunk = std::vector<char>;

/// Nobody wants the rest: ends the work of a thread.
struct Cancelled {};

/// Chunks between two threads, a few at a time: bounded memory. Any call throws Cancelled after cancel().
class ChunkQueue {
 public:
  static constexpr std::size_t most = 2;

  void push(Chunk chunk) {  ///< waits for room
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return cancelled_ || chunks_.size() < most; });
    throw_if_cancelled();
    chunks_.push_back(std::move(chunk));
    changed_.notify_all();
  }
  /// No more chunks will be pushed.
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
  std::optional<Chunk> pop();                       ///< waits for one; nullopt at the end
  std::optional<Chunk> pop_within(double seconds);  ///< nullopt if there is none yet, or at the end
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
