#pragma once
#include <sys/types.h>

#include <atomic>

#include "launch/launcher.hpp"

namespace trainrt::watch {

/// While this object lives, a call of exit() by the train function ends the job step with an error. Without the guard,
/// exit(0) would look like a success of this rank. A forked child process may call exit().
class ExitGuard {
 public:
  explicit ExitGuard(launch::Launch& launch);
  ~ExitGuard() { training_ = nullptr; }
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;
  /// Permits exit() from now on, because the job step is being ended on purpose. Thread-safe.
  static void disarm() { training_ = nullptr; }

 private:
  static void abort_step();
  static inline std::atomic<launch::Launch*> training_ = nullptr;
  static inline std::atomic<pid_t> process_ = 0;
};

}  // namespace trainrt::watch
