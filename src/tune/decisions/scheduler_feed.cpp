#include "tune/decisions/scheduler_feed.hpp"

#include <limits>
#include <utility>

namespace trainrt::tune {

void SchedulerFeed::follow(const History& history) {
  for (const auto& [number, trial] : history.trials()) {
    auto& seen = seen_[number];
    for (auto at = trial.reports.upper_bound(seen.last); at != trial.reports.end(); ++at) {
      scheduler_->observe({number, at->first, at->second});
      seen.last = at->first;
    }
    const auto cloned = trial.kept_at > 0 ? ReportPosition{trial.generation, trial.kept_at}
                                          : ReportPosition{trial.generation - 1, std::numeric_limits<std::int64_t>::max()};
    if (cloned.generation > 0 && std::exchange(seen.cloned, cloned) != cloned) scheduler_->observe_cloning(number, cloned);
    if (trial.is_done(max_failures_) && !std::exchange(seen.is_done, true)) scheduler_->forget(number);
  }
}

}  // namespace trainrt::tune
