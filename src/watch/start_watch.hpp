#pragma once
#include <optional>

#include "config/run_spec.hpp"
#include "core/timeout.hpp"
#include "launch/launcher.hpp"

namespace trainrt::watch {

/// While it lives, a start that takes too long ends the step (exit 70): a rank that is frozen, or held by storage that does
/// not answer, would hold all others. It watches the thread that made it, from the meeting of the ranks until HangWatch
/// takes over.
class StartWatch {
 public:
  StartWatch(launch::Launch& launch, const config::RunSpec& spec);

 private:
  std::optional<Timeout> timeout_;
};

/// How long a start may take, in seconds; 0: any time. With failure.hang_timeout = auto 5 minutes and what the ranks may
/// wait for each other and for storage; with N s that, but a minute at least.
double start_limit(const config::RunSpec& spec);

}  // namespace trainrt::watch
