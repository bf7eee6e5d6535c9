#pragma once
#include <optional>
#include <span>
#include <vector>

namespace trainrt::rundir {

struct AttemptRecord;

/// The wall time of a run, or of an attempt and the wait before it, in seconds, divided by purpose.
struct TimeAccount {
  /// wait between the previous attempt and this one (Slurm's queue, back-off); 0 if the previous attempt finished
  double waiting_s = 0;
  double startup_s = 0;     ///< launch and restore, until the first step could begin (Timing)
  double productive_s = 0;  ///< training steps with results that were not lost
  double checkpoint_s = 0;  ///< time for which the train thread waited for saves of checkpoints
  double lost_s = 0;        ///< training steps that were repeated later, or with results that may be lost
  double shutdown_s = 0;    ///< time after the end of the train function
  /// true if the account includes time of a program that does not use trainrt's API; the lost part is then unknown
  bool silent = false;

  double total_s() const;
  /// Returns the productive time as a fraction of the total time, 0 to 1. Returns 0 if the total is 0, and nothing if the
  /// fraction is unknown.
  std::optional<double> goodput() const;
  TimeAccount& operator+=(const TimeAccount& other);
};

/// Returns the account of each attempt's wall time, in the order of the records in `attempts` (oldest first). Pure
/// function. The training time of an attempt is divided evenly among its steps. Rules:
/// - Steps of an attempt are lost if a later attempt began at an earlier step.
/// - Steps of the last attempt are lost if it failed or was killed, and no checkpoint contains them.
/// - An incomplete first step or report is lost when the attempt ends, unless the run finished.
/// - The time between the last heartbeat of a killed attempt and its recorded end is lost.
/// - A running attempt has lost no time so far.
/// - All training time of a program that does not use trainrt's API counts as productive.
std::vector<TimeAccount> accounts_of(std::span<const AttemptRecord> attempts);

/// Returns the sum of several accounts, such as the account of a run from those of its attempts.
TimeAccount sum_of(std::span<const TimeAccount> accounts);

}  // namespace trainrt::rundir
