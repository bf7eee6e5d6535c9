#pragma once
#include <cstdint>
#include <map>
#include <memory>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// The scheduler of a sweep, and how much of the history was already passed to the scheduler.
class SchedulerFeed {
 public:
  explicit SchedulerFeed(const Sweep& sweep) : scheduler_(sweep.scheduler()), max_failures_(sweep.max_failures()) {}
  /// Passes the new reports, clonings and ends of trials in `history` to the scheduler, each of them once. `history`
  /// must contain everything that it contained in the previous call.
  void follow(const History& history);
  const Scheduler& scheduler() const { return *scheduler_; }

 private:
  struct Seen {
    ReportPosition last{1, 0}, cloned{0, 0};
    bool is_done = false;
  };
  std::unique_ptr<Scheduler> scheduler_;
  int max_failures_;
  std::map<std::uint64_t, Seen> seen_;
};

}  // namespace trainrt::tune
