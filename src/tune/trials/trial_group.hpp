#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include "tune/decisions/scheduler_feed.hpp"
#include "tune/record/claims.hpp"
#include "tune/record/history.hpp"
#include "tune/record/journal.hpp"
#include "tune/record/sweep.hpp"
#include "tune/record/sweep_history.hpp"
#include "tune/trials/common_error.hpp"
#include "tune/trials/trial_runner.hpp"

namespace trainrt::tune {

/// Runs trials of a sweep, one after the other, on the same ranks. Each group writes a journal file of its own.
class TrialGroup {
 public:
  /// `stopping`: shared by all groups of this process; any group may set it. `common_error`: detects an error that ends
  /// the sweep. `ends`: mutex shared by all groups of this process. A group locks it while it records and logs the end
  /// of a trial, so that the logged numbers of done trials increase.
  TrialGroup(const Sweep& sweep, TrialRunner& runner, std::atomic<bool>& stopping, const CommonError& common_error,
             std::mutex& ends);

  /// Runs trials until all are done or the groups are stopping. Throws Error if the sweep's directory cannot be used.
  void work();

  /// Asks the running trial to save and stop. Any thread may call.
  void stop() { runner_.stop(); }
  /// Updates the modification time of the journal file, by which other processes find out that this process is alive.
  /// Any thread may call it.
  void touch_heartbeat() const;

 private:
  bool run_next();
  void catch_up();
  void run_trial(const Claim& claim);
  void end_trial(const Claim& claim);
  bool write_lost_failure(const Claim& claim);
  void decide_on_paused(std::uint64_t trial);
  void become_clone(std::uint64_t trial);
  int run_ranks(std::uint64_t trial, const Params& params, const CloneStart& start);
  void write_end(const TrialEnd& end, const Params& params);
  bool has_checkpoint(std::uint64_t trial, int generation) const;
  void log_end(const TrialEnd& end, const Params& params, const Trial& trial) const;

  const Sweep& sweep_;
  TrialRunner& runner_;
  std::atomic<bool>& stopping_;
  const CommonError& common_error_;
  std::mutex& ends_;
  JournalWriter writer_;
  JournalReader reader_;
  History history_;
  SchedulerFeed feed_{sweep_};
  Claims claims_;
  bool has_mirrored_tuner_ = false;  ///< whether put_tuner_record_into_mirror() was called
};

}  // namespace trainrt::tune
