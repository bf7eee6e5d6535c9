#pragma once
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Restores records that the journal of a sweep lacks, because a file was emptied, truncated, removed or damaged, from the
/// run directories of its trials: the beginning of a trial, the values of a searcher program, and the reports that the
/// scheduler uses, up to the run's newest checkpoint. They are written to a new file, with a warning. Runs that are alive
/// are skipped. Throws UsageError with file and line if a record is missing that no run has, that a trial became a clone.
/// Any process may call it before it runs trials.
void repair_journal(const Sweep& sweep);

}  // namespace trainrt::tune
