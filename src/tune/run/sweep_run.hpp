#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "tune/trials/trial_group.hpp"

namespace trainrt::tune {

/// Runs trials of a sweep, several at the same time, until all are done or a signal arrives. Other processes on any
/// node may run trials of the same sweep at the same time.
class SweepRun {
 public:
  explicit SweepRun(const Sweep& sweep);
  ~SweepRun();

  /// Runs several trials at a time: one per runner, each in its own thread. Returns:
  /// - `finished` if all trials are done and at least one did not fail
  /// - `stopped` after a signal or at the end of the job's time; the same command continues the sweep
  /// - `failed` if all trials failed, or if one failed with tune.fail_fast
  /// - `usage` if all trials share a config error (CommonError)
  ExitCode run(const std::vector<std::unique_ptr<TrialRunner>>& runners);
  /// Runs one trial at a time, in the calling thread; returns the same codes. Stops also when another process with the
  /// same `stop_file` stops. `stop_file` is a file name in the journal's directory.
  ExitCode run_here(TrialRunner& runner, const std::string& stop_file);
  /// Returns the error that all trials share, if run() or run_here() has returned `usage`; otherwise "".
  const std::string& error() const { return error_; }

 private:
  class FailureWatch;
  void supervise(const std::vector<std::unique_ptr<TrialGroup>>& groups, const std::string& stop_file);
  History history_at_end() const;
  ExitCode outcome();

  const Sweep& sweep_;
  const CommonError common_error_;
  std::unique_ptr<FailureWatch> failures_;  ///< with tune.fail_fast
  std::string error_;
  std::atomic<bool> stopping_ = false;
  std::mutex ends_;               ///< see TrialGroup
  std::atomic<int> working_ = 0;  ///< number of groups that are running trials
};

/// Gives failed trials tune.max_failures new attempts each. If all trials have failed, this applies to all of them.
/// Otherwise, if no trial has reported tune.metric, it applies to the trials that failed for this reason. Returns a
/// description of these trials, or "". Must be called before this process runs a trial.
std::string retry_failed(const Sweep& sweep);

}  // namespace trainrt::tune
