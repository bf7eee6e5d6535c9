#pragma once
#include <sys/types.h>

#include <atomic>

#include "launch/launcher.hpp"

namespace trainrt::watch {

/// While the train function runs: ends the step if it calls exit(), which would look like a good end of this rank. A child
/// that it has forked may.
class ExitGuard {
 public:
  explicit ExitGuard(launch::Launch& launch);
  ~ExitGuard() { training_ = nullptr; }
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;
  /// The step is being ended on purpose, which may call exit(). From any thread.
  static void stand_down() { training_ = nullptr; }

 private:
  static void end_badly();
  static inline std::atomic<launch::Launch*> training_ = nullptr;
  static inline std::atomic<pid_t> process_ = 0;
};

}  // namespace trainrt::watch
