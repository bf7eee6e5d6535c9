#pragma once
#include <optional>

#include "config/intervals.hpp"
#include "core/process/timeout.hpp"
#include "launch/launcher.hpp"

namespace trainrt::watch {

/// What the config allows for a start; seconds.
struct StartTimes {
  config::LimitOption hang_timeout;
  double launch_timeout_s = 0;
  double storage_timeout_s = 0;
};

/// While it lives, a start that takes too long ends the step (exit 70): a rank that is frozen, or held by storage that does
/// not answer, would hold all others. It watches the thread that made it, from the meeting of the ranks until HangWatch
/// takes over.
class StartWatch {
 public:
  StartWatch(launch::Launch& launch, const StartTimes& times);

 private:
  std::optional<Timeout> timeout_;
};

/// How long a start may take, in seconds; 0: any time. With hang_timeout = auto 5 minutes and what the ranks may
/// wait for each other and for storage; with N s that, but a minute at least.
double start_limit(const StartTimes& times);

}  // namespace trainrt::watch
