#pragma once
#include <optional>
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::trainer {

/// Returns the checkpoint interval with the least expected loss of time, in seconds of work between the end of one save and
/// the start of the next. `cost_s` is the cost of a save, `mtbf_s` the mean time between failures. J. T. Daly, "A higher
/// order estimate of the optimum checkpoint interval for restart dumps", FGCS 22 (2006) 303-312, eq. 37:
///   sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C  for C < 2M, else M.
/// The first term is from J. W. Young, CACM 17 (1974) 530-531.
double young_daly_interval(double cost_s, double mtbf_s);

/// The failures of earlier attempts of a run, and the time in which they occurred.
struct FailureHistory {
  double exposure_s = 0;  ///< total running time of the attempts, in seconds
  int failures = 0;       ///< number of attempts that failed or were killed; stops and invalid configs do not count
};

/// Returns the history of those `attempts` that have ended.
FailureHistory history_of(std::span<const rundir::AttemptRecord> attempts);

/// Maximum number of earlier attempts in a FailureHistory; older failures do not describe today's nodes.
inline constexpr std::size_t history_attempts = 32;

/// Returns the expected mean time between failures, (exposure + prior) / (failures + 1), on `nodes` nodes.
///
/// The prior is one failure in 14 days per node: about the geometric mean of one per day (a queue with many preemptions,
/// jobs that run out of memory) and one in 237 days (Llama-3 405B: 466 interruptions in 54 days on 2,048 nodes). The prior
/// has the weight of one failure, so the run's own history soon dominates. A prior that is too short costs a few per cent
/// more checkpoints.
double expected_mtbf_s(const FailureHistory& history, int nodes);

/// Decides when a checkpoint is due with checkpoint.every = auto, from the costs of earlier saves. The first checkpoint is
/// due early, after the first report or 60 s of steps, to measure its cost. Does not read the clock.
class AutoInterval {
 public:
  /// `history`: failures of earlier attempts.
  AutoInterval(const FailureHistory& history, int nodes) : history_(history), nodes_(nodes) {}

  /// Returns whether a checkpoint is due `since_s` seconds after the last save began, or after the first step.
  /// `has_reported`: this attempt has made a report.
  bool is_due(double since_s, bool has_reported) const;

  /// Updates the interval after a save. Returns a message for the log if the interval has changed by 25 % or more.
  /// `stall_s`: time for which the train thread waited; `duration_s`: time from begin to commit; `running_s`: running time
  /// of the attempt so far. All in seconds.
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
