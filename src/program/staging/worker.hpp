#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "program/staging/chunk_queue.hpp"

namespace trainrt::program::stage {

/// A thread that fills or empties a queue, with a current folder and a umask (none) of its own: what libarchive does with
/// those of a process would disturb its other threads. The end cancels the queue and waits a little; a thread that hangs in
/// the kernel is left behind.
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
  /// What its work threw, once it has ended: the text of the error, "" if none.
  std::string error() const;

 private:
  struct State {
    ChunkQueue queue;
    std::atomic<bool> ended = false;
    std::string error;  ///< written before `ended`
  };
  static void run(const Work& work, State& state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace trainrt::program::stage
