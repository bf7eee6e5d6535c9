#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trainrt::io {

/// A thread-safe thread pool, which starts tasks in the order of submission. Tasks must not throw. The destructor waits
/// for all submitted tasks. The threads of the pool block all signals except those of their own faults (such as SIGSEGV),
/// so that the training thread receives all others.
class Workers {
 public:
  /// Scheduling priority of the pool's threads. yield_to_others: nice 10, so that saving a checkpoint does not slow down
  /// training.
  enum class Priority { normal, yield_to_others };
  /// Starts `threads` threads (at least one). Accepts fewer threads if the system refuses to start more; throws Error if
  /// it starts not even one.
  explicit Workers(int threads, Priority priority = Priority::normal);
  ~Workers();
  Workers(const Workers&) = delete;

  void submit(std::function<void()> task);
  void drain();                       ///< waits until no task is queued or running
  bool drain_within(double seconds);  ///< waits like drain(); returns false if tasks are left after `seconds`

 private:
  void work(Priority priority);

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> tasks_;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trainrt::io
