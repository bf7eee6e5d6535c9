#pragma once
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Restores records that are missing in the journal of a sweep because a file was emptied, truncated, removed or
/// damaged. The records are restored from the run directories of the trials:
/// - the begin of a trial
/// - the values of a searcher program
/// - the reports that the scheduler uses, up to the run's newest checkpoint
///
/// Writes the records to a new file and prints a warning. Skips runs that are alive. Throws UsageError with file and
/// line if a missing record is in no run, such as the record that a trial became a clone. Any process may call it
/// before it runs trials.
void repair_journal(const Sweep& sweep);

}  // namespace trainrt::tune
