#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace trainrt {

/// Calls `act` once, in a thread of its own, if the object still exists after `seconds`. The destructor waits for a call
/// that has begun.
class Timeout {
 public:
  Timeout(double seconds, std::function<void()> act);
  ~Timeout();
  Timeout(const Timeout&) = delete;
  Timeout& operator=(const Timeout&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace trainrt
