#pragma once
#include <optional>
#include <span>
#include <vector>

namespace trainrt::rundir {

struct AttemptRecord;

/// The wall time of an attempt, with the wait before it, or of a run, divided by purpose. Seconds.
struct TimeAccount {
  double waiting_s = 0;     ///< queue or back-off between the previous attempt and this; 0 after an attempt that finished
  double startup_s = 0;     ///< until the first step could begin (Timing): launch, restore
  double productive_s = 0;  ///< steps with results that survived
  double checkpoint_s = 0;  ///< waits of the train thread for saves
  double lost_s = 0;        ///< steps that were repeated later, or with results that may be lost
  double shutdown_s = 0;    ///< after the end of the train function
  bool silent = false;      ///< includes a silent program's time, so it is unknown how much of productive_s survived

  double total_s() const;
  /// Returns productive_s as a fraction of the total, 0 to 1; 0 if the total is 0, and nothing if it is unknown.
  std::optional<double> goodput() const;
  TimeAccount& operator+=(const TimeAccount& other);
};

/// Returns one account per attempt, in the order of the records (oldest first). Pure function.
///
/// Steps of an attempt are lost if a later attempt began at an earlier step. Steps of the last attempt are lost if it
/// failed or was killed and they are in no checkpoint. An incomplete first step or report is lost when the attempt ends,
/// unless the run finished. The steps' time is divided evenly among them. The time between the last heartbeat of a killed
/// attempt and its recorded end is lost, too. A running attempt has lost nothing so far. All time of a silent program
/// counts as productive.
std::vector<TimeAccount> accounts_of(std::span<const AttemptRecord> attempts);

/// Returns the sum of accounts, such as that of a run.
TimeAccount sum_of(std::span<const TimeAccount> accounts);

}  // namespace trainrt::rundir
