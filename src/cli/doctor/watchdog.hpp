#pragma once
#include <optional>
#include <string>

#include "core/process/timeout.hpp"
#include "launch/launcher.hpp"

namespace trainrt::cli {

/// Ends the step (exit 70) if this process is held longer than a limit: a system call on a file system that does not
/// answer never returns by itself. One for the life of a command.
class Watchdog {
 public:
  explicit Watchdog(launch::Launch& launch) : launch_(launch) {}

  /// From now on `what` may take so long; it stands in the message that is logged before the end.
  void watch(const std::string& what, double limit_seconds);

 private:
  launch::Launch& launch_;
  std::optional<Timeout> timeout_;
};

}  // namespace trainrt::cli
