#pragma once
#include "config/intervals.hpp"
#include "watch/liveness.hpp"

namespace trainrt::watch {

/// Decides when a rank that makes no progress raises a hang alarm. Uses no clock: the caller passes elapsed times. Time
/// in which the process did not run (SIGSTOP, a suspended job) does not count.
///
/// The time limit depends on the config key hang_timeout:
/// - "N s": the limit is N seconds.
/// - "off": there is no alarm.
/// - "auto": the first step() or report() may take the collective timeout plus a margin, so that a collective that
///   waits too long reports its own error first. After the second step() or report(), the limit is 600 s, or 20 times
///   the maximum time between two updates if that is longer. For a rank that computes and does not wait for others, the
///   limit is at least the collective timeout, because the first evaluation may be long. A lost rank is still found
///   early, because the ranks that wait for it raise the alarm.
///
/// A rank may be busy in another phase than training: start, first step, loading, checkpoint, end. Such a rank is excused
/// for the time that "auto" gives the first step: its alarm, after 600 s or N seconds, only checks whether every rank
/// answers, and is cancelled if all do. This is the only way to distinguish a slow disk from a lost rank.
class StallMeter {
 public:
  /// `collective_timeout` and `tick`, the interval between calls of observe(), are in seconds.
  StallMeter(const config::LimitOption& option, double collective_timeout, double tick);

  enum class State {
    normal,
    suspicious,  ///< a quarter of the limit has passed: the caller checks whether another rank has raised the alarm
    stalled,
  };
  /// Updates the meter and returns its state. Must be called once per tick. `elapsed` is the time since the previous call
  /// in seconds; `waits` is whether the rank waits for other ranks.
  State observe(double elapsed, const Liveness::Snapshot& snapshot, bool waits);

  double quiet() const { return quiet_; }  ///< Returns the seconds without progress.
  /// Returns whether the rank is busy with an operation of its own that may take long, such as a checkpoint. `waits` is
  /// whether the rank waits for other ranks.
  bool is_excused(bool waits) const { return !waits && last_.phase != Phase::training && quiet_ <= long_limit_; }
  /// Called after a cancelled alarm: the next alarm is raised only after the complete time limit has passed again.
  void postpone() { postponed_ = quiet_; }

 private:
  double limit(bool waits) const;

  config::LimitOption option_;
  double long_limit_;
  double collective_timeout_;
  double tick_;
  Liveness::Snapshot last_;
  double quiet_ = 0;
  double postponed_ = 0;
  double max_gap_ = 0;
};

}  // namespace trainrt::watch
