#pragma once
#include <optional>
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::trainer {

/// The checkpoint interval that wastes least, in seconds of work between the end of one save and the start of the next,
/// if a save costs `cost_s` and a failure comes every `mtbf_s` on average: J. T. Daly, "A higher order estimate of the
/// optimum checkpoint interval for restart dumps", FGCS 22 (2006) 303-312, eq. 37; its first term is J. W. Young's,
/// CACM 17 (1974) 530-531:
///   sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C  for C < 2M, else M.
double young_daly_interval(double cost_s, double mtbf_s);

/// How often a run has failed, and in how long a time.
struct FailureHistory {
  double exposure_s = 0;  ///< running time of attempts
  int failures = 0;       ///< attempts that ended by a kill or a failure, not by a stop or a mistake in the config
};

/// Of the attempts that have ended.
FailureHistory history_of(std::span<const rundir::AttemptRecord> attempts);

/// So many records of earlier attempts are looked at: what failed long ago says little of today's nodes.
inline constexpr std::size_t history_attempts = 32;

/// Mean time between failures: (exposure + prior) / (failures + 1), the prior being one failure in 14 days of one node.
/// That is about the geometric mean of one in a day (a queue full of preemptions, jobs that run out of memory) and one in
/// 237 days (Llama-3 405B: 466 interruptions in 54 days on 2,048 nodes). A guess that is too short costs a few per cent of
/// checkpoints; and it weighs no more than one failure does, so that the run's own history soon decides.
double expected_mtbf_s(const FailureHistory& history, int nodes);

/// checkpoint.every = auto on the rank whose clock decides: when the next checkpoint is due, by what saves have cost so
/// far. The first comes early, to learn that: after the first report, or 60 s of steps. Pure, times are given.
class AutoInterval {
 public:
  /// `history`: of the attempts before this one.
  AutoInterval(const FailureHistory& history, int nodes) : history_(history), nodes_(nodes) {}

  /// `since_s`: since the last save began, or since the first step; `reported`: this attempt has made a report.
  bool is_due(double since_s, bool reported) const;

  /// What a save cost: the train thread stood still for `stall_s`, and it was under way for `duration_s`; the attempt has
  /// run for `running_s`. Returns a sentence for the log if the interval changed much.
  std::optional<std::string> learn(double stall_s, double duration_s, double running_s);

  double interval_s() const { return interval_s_; }  ///< 0 = not known yet

 private:
  FailureHistory history_;
  int nodes_;
  double cost_s_ = 0;
  double interval_s_ = 0;
  double said_s_ = 0;
};

}  // namespace trainrt::trainer
