#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace trainrt {

/// If it still lives after so many seconds it calls `act`, once, in a thread of its own. The destructor waits for a call
/// that is under way.
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
