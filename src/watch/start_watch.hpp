#pragma once
#include <optional>

#include "config/intervals.hpp"
#include "core/process/timeout.hpp"
#include "launch/launcher.hpp"

namespace trainrt::watch {

/// Values of config keys that limit the duration of a start, in seconds.
struct StartTimes {
  config::LimitOption hang_timeout;
  double launch_timeout_s = 0;
  double storage_timeout_s = 0;
};

/// While this object lives, it ends the step with exit code 70 if the start exceeds start_limit(): a rank that is frozen,
/// or blocked by storage that does not answer, would block all others. It watches the thread that constructed it, from the
/// rendezvous of the ranks until HangWatch takes over.
class StartWatch {
 public:
  StartWatch(launch::Launch& launch, const StartTimes& times);

 private:
  std::optional<Timeout> timeout_;
};

/// Returns the maximum duration of a start in seconds; 0: no limit. With hang_timeout = auto it is 5 minutes plus the times
/// that ranks may wait for each other and for storage; with N s it is N, and at least a minute.
double start_limit(const StartTimes& times);

}  // namespace trainrt::watch
