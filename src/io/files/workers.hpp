#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trainrt::io {

/// Background threads that do tasks in the order they came. Tasks must not throw. The destructor waits for all that were
/// given. Signals are blocked in these threads: they belong to the train thread.
class Workers {
 public:
  /// yield_to_others: the system gives these threads what others leave (nice 10), so that training goes before saving.
  enum class Priority { normal, yield_to_others };
  explicit Workers(int threads, Priority priority = Priority::normal);
  ~Workers();
  Workers(const Workers&) = delete;

  void submit(std::function<void()> task);
  void drain();                       ///< waits until nothing is queued or running
  bool drain_within(double seconds);  ///< false: something still is

 private:
  void work(Priority priority);

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> tasks_;
  std::size_t running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trainrt::io
