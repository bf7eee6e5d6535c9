#pragma once
#include <optional>
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::trainer {

/// Returns the checkpoint interval with the minimum expected loss of time: the seconds of work between the end of one save
/// and the start of the next save. `cost_s` is the cost of a save in seconds, `mtbf_s` is the mean time between failures in
/// seconds. The formula is eq. 37 of J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart
/// dumps", FGCS 22 (2006) 303-312:
///   sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C  for C < 2M, else M.
/// The first term is from J. W. Young, CACM 17 (1974) 530-531.
double young_daly_interval(double cost_s, double mtbf_s);

/// The number of failures of a run's earlier attempts, and the total running time of these attempts.
struct FailureHistory {
  double exposure_s = 0;  ///< total running time of the attempts, in seconds
  int failures = 0;       ///< number of attempts that failed or were killed; stops and invalid configs do not count
};

/// Returns the FailureHistory of `attempts`. Attempts without a recorded end are ignored.
FailureHistory history_of(std::span<const rundir::AttemptRecord> attempts);

/// Maximum number of earlier attempts in a FailureHistory. Older attempts do not describe today's nodes.
inline constexpr std::size_t history_attempts = 32;

/// Returns the expected mean time between failures, (exposure + prior) / (failures + 1), on `nodes` nodes.
///
/// The prior is one failure in 14 days per node. This is about the geometric mean of one failure per day (a queue with many
/// preemptions, jobs that run out of memory) and one failure in 237 days (Llama-3 405B: 466 interruptions in 54 days on
/// 2,048 nodes). The prior has the weight of one failure, so the run's own history soon dominates. A prior that is too
/// short costs a few per cent more checkpoints.
double expected_mtbf_s(const FailureHistory& history, int nodes);

/// Computes when the next checkpoint is due if config key checkpoint.every is `auto`, from the measured costs of saves. The
/// first checkpoint is due after the first report or after 60 s of steps, so that its cost can be measured early. An
/// AutoInterval does not read the clock.
class AutoInterval {
 public:
  /// `history` has the failures of earlier attempts; `nodes` is the number of nodes.
  AutoInterval(const FailureHistory& history, int nodes) : history_(history), nodes_(nodes) {}

  /// Returns whether a checkpoint is due. `since_s` is the number of seconds since the last save began, or since the steps
  /// began. `has_reported` is true if this attempt has made a report.
  bool is_due(double since_s, bool has_reported) const;

  /// Updates the interval after a save. Returns a message for the log if the interval has changed by 25 % or more. All
  /// arguments are in seconds: `stall_s` is the time for which the train thread waited, `duration_s` is the time from the
  /// begin of the save to the commit, and `running_s` is the running time of the attempt so far.
  std::optional<std::string> learn(double stall_s, double duration_s, double running_s);

  double interval_s() const { return interval_s_; }  ///< interval in seconds; 0 if not known yet

 private:
  FailureHistory history_;
  int nodes_;
  double cost_s_ = 0;
  double interval_s_ = 0;
  double logged_s_ = 0;  // interval in the last message
};

}  // namespace trainrt::trainer
