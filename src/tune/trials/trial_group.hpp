#pragma once
#include <atomic>
#include <cstdint>

#include "tune/decisions/scheduler_feed.hpp"
#include "tune/record/claims.hpp"
#include "tune/record/history.hpp"
#include "tune/record/journal.hpp"
#include "tune/record/sweep.hpp"
#include "tune/trials/common_error.hpp"
#include "tune/trials/trial_runner.hpp"

namespace trainrt::tune {

/// Ranks that run one trial of a sweep after another: a writer of its journal.
class TrialGroup {
 public:
  /// `stopping`: of all groups of this process, each of which may set it. `common_error`: ends the sweep.
  TrialGroup(const Sweep& sweep, TrialRunner& runner, std::atomic<bool>& stopping, const CommonError& common_error);

  /// Returns if every trial is over, or the groups are stopping. Throws Error if the sweep's directory cannot be used.
  void work();

  // Any thread.

  void stop() { runner_.stop(); }
  void show_life() const;

 private:
  bool one_step();
  void catch_up();
  void run_trial(const Claim& claim);
  void end_trial(const Claim& claim);
  bool write_lost_failure(const Claim& claim);
  void become_clone(std::uint64_t trial);
  int run_ranks(std::uint64_t trial, const Params& params, const CloneStart& start);
  void write_end(const TrialEnd& end, const Params& params);
  bool has_checkpoint(std::uint64_t trial, int generation) const;
  void say(const TrialEnd& end, const Params& params, const Trial& trial) const;

  const Sweep& sweep_;
  TrialRunner& runner_;
  std::atomic<bool>& stopping_;
  const CommonError& common_error_;
  JournalWriter writer_;
  JournalReader reader_;
  History history_;
  SchedulerFeed feed_{sweep_};
  Claims claims_;
};

/// Trials that are not run again.
std::uint64_t trials_over(const Sweep& sweep, const History& history);

}  // namespace trainrt::tune
