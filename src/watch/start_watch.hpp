#pragma once
#include <optional>

#include "config/intervals.hpp"
#include "core/process/timeout.hpp"
#include "launch/launcher.hpp"

namespace trainrt::watch {

/// Values of the config keys that limit how long the start of a run may take, in seconds.
struct StartTimes {
  config::LimitOption hang_timeout;
  double launch_timeout_s = 0;
  double storage_timeout_s = 0;
};

/// While this object exists, it ends the job step with exit code 70 if the start of the run takes longer than
/// start_limit(). Without it, a rank that is frozen, or that waits for unresponsive storage, would block all other
/// ranks. It watches the thread that constructed it. It exists from the rendezvous of the ranks until HangWatch takes
/// over.
class StartWatch {
 public:
  StartWatch(launch::Launch& launch, const StartTimes& times);

 private:
  std::optional<Timeout> timeout_;
};

/// Returns the maximum duration of a run's start in seconds; 0: no limit. If hang_timeout is "auto", the limit is 5 minutes
/// plus the times that ranks may wait for each other and for storage. If it is "N s", the limit is N seconds, but at
/// least 60.
double start_limit(const StartTimes& times);

}  // namespace trainrt::watch
