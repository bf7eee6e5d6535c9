#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "launch/launcher.hpp"

namespace trainrt::cli {

/// Ends the step (exit 70) where this process is held longer than a limit: a system call on a file system that does not
/// answer never returns by itself. One for the life of a command.
class Watchdog {
 public:
  explicit Watchdog(launch::Launch& launch);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on `what` may take so long; it stands in the message that is logged before the end.
  void watch(const std::string& what, double limit_seconds);

 private:
  void guard();

  launch::Launch& launch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::string what_;
  double limit_seconds_ = 0;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  std::thread thread_;
};

}  // namespace trainrt::cli
