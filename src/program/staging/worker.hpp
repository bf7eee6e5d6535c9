#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "program/staging/chunk_queue.hpp"

namespace trainrt::program::stage {

/// A thread that fills or empties a queue. It has its own current folder and umask (0), because libarchive changes them,
/// which must not affect other threads. The destructor cancels the queue and waits for 5 s; a thread that is blocked in the
/// kernel is abandoned.
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
  /// Returns the message of the exception that `work` threw; "" after success, or while the thread is running.
  std::string error() const;

 private:
  struct State {
    ChunkQueue queue;
    std::atomic<bool> ended = false;
    std::string error;  ///< written before `ended` is set
  };
  static void run(const Work& work, State& state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace trainrt::program::stage
