#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainrt::rundir {

struct AttemptRecord;

/// Where wall time went: an attempt's, with the wait before it, or a whole run's. Seconds.
struct TimeAccount {
  double waiting_s = 0;     ///< from the end of the attempt before to the start of this: in the queue, or back-off; none
                            ///< after one that had finished
  double startup_s = 0;     ///< until the first step can have begun (Timing): launch, restore
  double productive_s = 0;  ///< in steps that survived
  double checkpoint_s = 0;  ///< the train thread stood still for a save
  double lost_s = 0;        ///< in steps that were done again later, or that nobody saw survive
  double shutdown_s = 0;    ///< after the train function
  bool silent = false;      ///< a program's that said nothing: what of its productive time survived is not known

  double total_s() const;
  /// The productive part of the total; 0 if there is no time yet, and nullopt if it is not known.
  std::optional<double> goodput() const;
  TimeAccount& operator+=(const TimeAccount& other);
};

/// One account an attempt, in the order of the records (oldest first). Pure.
///
/// Steps of an attempt are lost if a later attempt began before its end; of the last attempt if it failed or was
/// killed, and they are in no checkpoint. A first step or report that was not completed is lost once the attempt has ended,
/// unless the run finished with it. The time of its steps is shared out evenly among them. What an attempt
/// did between its last sign of life and an end that somebody else saw counts as lost, too. An attempt that runs has lost
/// nothing so far. All time of a program that says nothing counts as productive from its start on, until its end.
std::vector<TimeAccount> accounts_of(std::span<const AttemptRecord> attempts);

TimeAccount sum_of(std::span<const TimeAccount> accounts);

}  // namespace trainrt::rundir
