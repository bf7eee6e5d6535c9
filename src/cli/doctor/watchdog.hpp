#pragma once
#include <optional>
#include <string>

#include "core/process/timeout.hpp"
#include "launch/launcher.hpp"

namespace trainrt::cli {

/// Ends all ranks with exit code 70 if an operation of this process takes longer than its time limit. This is necessary
/// because a system call on a file system that does not respond never returns. A command uses one object for all its
/// operations.
class Watchdog {
 public:
  explicit Watchdog(launch::Launch& launch) : launch_(launch) {}

  /// Starts the time limit of the next operation, in place of that of the previous one. `operation` is a noun phrase
  /// for the error message.
  void watch(const std::string& operation, double limit_seconds);

 private:
  launch::Launch& launch_;
  std::optional<Timeout> timeout_;
};

}  // namespace trainrt::cli
