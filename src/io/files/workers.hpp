#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trainrt::io {

/// A pool of threads that run tasks, starting them in the order of submission. Tasks must not throw. The destructor waits
/// for all submitted tasks. The threads block all signals except those of their own faults, so that the train thread gets
/// them. Any thread may call.
class Workers {
 public:
  /// yield_to_others: the threads run at nice 10, so that saving does not slow down training.
  enum class Priority { normal, yield_to_others };
  /// Starts `threads` threads (at least one). Throws Error if the system starts none; fewer than requested are accepted.
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
