#pragma once
#include "config/intervals.hpp"
#include "watch/liveness.hpp"

namespace trainrt::watch {

/// Decides when a rank that gives no sign of progress raises an alarm. Pure: time comes from outside.
///
/// auto: the first step() or report() may take the collective timeout and a little more, so that a collective that
/// waits too long reports it first. From the second on the limit is 600 s, or 20 times the longest time between two signs
/// so far if that is more; a rank that does not wait for others but computes has the collective timeout if that is
/// longer still: a first evaluation may be long, and if one rank is really lost the others, which wait, raise the alarm.
/// N s: N seconds.
/// off: never.
/// A rank that is busy in another phase than training (its start and its first step, loading, a checkpoint, the end) is
/// excused for as long as auto gives the first step: after 600 s, or N, the alarm only finds out whether every rank
/// answers, and is taken back if they do. There ranks wait for one that is busy with good reason, and nothing else
/// tells a slow disk from a lost rank.
///
/// Time in which the process itself did not run (SIGSTOP, a suspended job) does not count.
class StallMeter {
 public:
  /// Seconds in all.
  StallMeter(const config::LimitOption& option, double collective_timeout, double tick);

  enum class State {
    fine,
    worried,  ///< a quarter of the limit is over: look whether another rank has raised the alarm
    stalled,
  };
  /// Once a tick. `elapsed`: seconds since the last call. `waits`: for other ranks.
  State observe(double elapsed, const Liveness::Seen& seen, bool waits);

  double quiet() const { return quiet_; }  ///< seconds without a sign of progress
  /// What it is at may take long, and it does it itself.
  bool is_excused(bool waits) const { return !waits && last_.phase != Phase::training && quiet_ <= long_limit_; }
  /// The alarm was taken back: the next one has the whole limit again.
  void postpone() { postponed_ = quiet_; }

 private:
  double limit(bool waits) const;

  config::LimitOption option_;
  double long_limit_;
  double collective_timeout_;
  double tick_;
  Liveness::Seen last_;
  double quiet_ = 0;
  double postponed_ = 0;
  double longest_gap_ = 0;
};

}  // namespace trainrt::watch
