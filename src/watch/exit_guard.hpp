#pragma once
#include <sys/types.h>

#include <atomic>

#include "launch/launcher.hpp"

namespace trainrt::watch {

/// While this object lives, a call of exit() by the train function ends the step with an error; else it would look like a
/// success of this rank. A forked child may call exit().
class ExitGuard {
 public:
  explicit ExitGuard(launch::Launch& launch);
  ~ExitGuard() { training_ = nullptr; }
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;
  /// Permits exit(), because the step is being ended on purpose. May be called from any thread.
  static void disarm() { training_ = nullptr; }

 private:
  static void abort_step();
  static inline std::atomic<launch::Launch*> training_ = nullptr;
  static inline std::atomic<pid_t> process_ = 0;
};

}  // namespace trainrt::watch
