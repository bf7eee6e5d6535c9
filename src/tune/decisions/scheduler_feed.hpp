#pragma once
#include <cstdint>
#include <map>
#include <memory>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// A sweep's scheduler, which is given what the journal has.
class SchedulerFeed {
 public:
  explicit SchedulerFeed(const Sweep& sweep) : scheduler_(sweep.scheduler()), max_failures_(sweep.max_failures()) {}
  /// Each report and each trial's end once; the history only grows.
  void follow(const History& history);
  const Scheduler& scheduler() const { return *scheduler_; }

 private:
  struct Seen {
    ReportPlace last{1, 0};
    bool is_over = false;
  };
  std::unique_ptr<Scheduler> scheduler_;
  int max_failures_;
  std::map<std::uint64_t, Seen> seen_;
};

}  // namespace trainrt::tune
