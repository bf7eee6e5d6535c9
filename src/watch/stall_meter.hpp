#pragma once
#include "config/intervals.hpp"
#include "watch/liveness.hpp"

namespace trainrt::watch {

/// Decides when a rank without progress raises a hang alarm. Depends on no clock: the caller passes elapsed times.
///
/// With "auto" the first step() or report() may take the collective timeout and a margin, so that a collective that waits
/// too long reports its own error first. After the second one the limit is 600 s, or 20 times the maximum time between two
/// updates if that is longer. A rank that computes, rather than waits for others, gets at least the collective timeout,
/// because the first evaluation may be long; if one rank is lost, the others, which wait, raise the alarm.
/// With "N s" the limit is N seconds. With "off" there is no alarm.
///
/// A rank that is busy in another phase than training (start, first step, loading, checkpoint, end) is excused for as long
/// as auto gives the first step. After 600 s, or N seconds, its alarm only checks whether every rank answers, and is
/// cancelled if all do: a slow disk and a lost rank cannot be distinguished otherwise.
///
/// Time in which the process did not run (SIGSTOP, a suspended job) does not count.
class StallMeter {
 public:
  /// `collective_timeout` and `tick`, the interval of observe(), are in seconds.
  StallMeter(const config::LimitOption& option, double collective_timeout, double tick);

  enum class State {
    normal,
    suspicious,  ///< a quarter of the limit has passed: check whether another rank has raised the alarm
    stalled,
  };
  /// Must be called once per tick. `elapsed`: seconds since the previous call. `waits`: the rank waits for other ranks.
  State observe(double elapsed, const Liveness::Snapshot& snapshot, bool waits);

  double quiet() const { return quiet_; }  ///< seconds without progress
  /// Returns whether the rank itself is busy with an operation that may take long.
  bool is_excused(bool waits) const { return !waits && last_.phase != Phase::training && quiet_ <= long_limit_; }
  /// Must be called after a cancelled alarm: the next alarm needs the full limit again.
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
