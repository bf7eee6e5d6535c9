#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "tune/trials/trial_group.hpp"

namespace trainrt::tune {

/// Runs trials of a sweep in this process's allocation, several at once, until none is left or a signal comes. Other
/// processes may do the same with the same sweep, anywhere.
class SweepRun {
 public:
  explicit SweepRun(const Sweep& sweep);
  ~SweepRun();

  /// One group a runner, each in a thread. finished: every trial is over, and one at least did not fail; stopped: a
  /// signal, or the end of the job's time, and the same command goes on; failed: no trial ended well, or one failed that
  /// ends the sweep; usage: trials ended with the same error of the config that all of them share, which ends the sweep.
  ExitCode run(const std::vector<std::unique_ptr<TrialRunner>>& runners);
  /// The same with one group, whose trials run in the calling thread, and which stops if others with the same `stop_file`
  /// do: a file of that name, in the journal's directory.
  ExitCode run_here(TrialRunner& runner, const std::string& stop_file);

 private:
  class FailureWatch;
  void look_after(const std::vector<std::unique_ptr<TrialGroup>>& groups, const std::string& stop_file);
  History history_at_end() const;
  ExitCode outcome() const;

  const Sweep& sweep_;
  const CommonError common_error_;
  std::unique_ptr<FailureWatch> failures_;  ///< with tune.fail_fast
  std::atomic<bool> stopping_ = false;
  std::atomic<int> working_ = 0;  ///< groups that are at work
};

/// All records of a sweep.
History history_of(const Sweep& sweep);

/// Whether every trial is over, and all have failed.
bool have_all_failed(const Sweep& sweep, const History& history);

/// If so, each gets new attempts (tune.max_failures), and true is returned. For a new start of the sweep, before any trial
/// runs.
bool retry_if_all_failed(const Sweep& sweep);

}  // namespace trainrt::tune
