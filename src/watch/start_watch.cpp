#include "watch/start_watch.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/process/wait_reason.hpp"

namespace trainrt::watch {

double start_limit(const StartTimes& times) {
  switch (times.hang_timeout.kind) {
    case config::LimitOption::Kind::off:
      return 0;
    case config::LimitOption::Kind::seconds:
      return std::max(times.hang_timeout.seconds, 60.0);
    case config::LimitOption::Kind::automatic:
      return 300 + times.launch_timeout_s + 2 * times.storage_timeout_s;
  }
  return 0;
}

StartWatch::StartWatch(launch::Launch& launch, const StartTimes& times) {
  const double limit_s = start_limit(times);
  if (limit_s <= 0) return;
  // All ranks reach the limit at about the same time. The delay lets rank 0 report the error first and end the others.
  const double delay_s = delay_after_rank0_s(launch.world(), 2);
  timeout_.emplace(
      limit_s + delay_s, [limit_s, key = times.hang_timeout.key, &launch, &waits = WaitReason::of_this_thread()] {
        const auto in = waits.text();
        log::error(fmt::format("hang: the run has not started within {:.0f} s ({}): on {} it {}", limit_s, key, host_name(),
                               in.empty() ? "is busy; a file system may not answer" : "waits in " + in));
        wait_for_output_delivery();
        launch.abort(static_cast<int>(ExitCode::failed));
      });
}

}  // namespace trainrt::watch
