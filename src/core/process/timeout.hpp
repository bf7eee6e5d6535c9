#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace trainrt {

/// A watchdog timer: calls `act` once, in a thread of its own, if the object still exists after `seconds`. If the call has
/// begun, the destructor waits until `act` returns.
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
  std::thread thread_;  // declared last: the thread uses the other members
};

}  // namespace trainrt
