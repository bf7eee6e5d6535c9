#include "program/staging/chunk_queue.hpp"

#include <chrono>

namespace trainrt::program::stage {

std::optional<Chunk> ChunkQueue::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return cancelled_ || finished_ || !chunks_.empty(); });
  return take();
}

std::optional<Chunk> ChunkQueue::pop_within(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                    [this] { return cancelled_ || finished_ || !chunks_.empty(); });
  return take();
}

bool ChunkQueue::has_room_within(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] {
    return cancelled_ || chunks_.size() < max_chunks;
  }) && !cancelled_;
}

}  // namespace trainrt::program::stage
