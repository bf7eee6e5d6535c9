#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "program/staging/chunk_queue.hpp"

namespace trainrt::program::stage {

/// A thread that fills or empties a ChunkQueue. The thread has its own current folder and umask (0), since libarchive
/// changes both, and other threads must not be affected. The destructor cancels the queue and waits at most 5 s for the
/// thread; a thread that is still blocked in the kernel then is abandoned.
class Worker {
 public:
  using Work = std::function<void(ChunkQueue& queue)>;
  explicit Worker(Work work);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  ChunkQueue& queue() { return state_->queue; }
  bool has_ended() const { return state_->ended; }
  bool ends_within(double seconds) const;
  /// Returns the message of the exception that `work` threw; "" if `work` succeeded or still runs.
  std::string error() const;

 private:
  struct State {
    ChunkQueue queue;
    std::atomic<bool> ended = false;
    std::string error;  ///< written before `ended` becomes true
  };
  static void run(const Work& work, State& state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace trainrt::program::stage
