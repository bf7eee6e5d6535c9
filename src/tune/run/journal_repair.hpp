#pragma once
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Compares the journal of a sweep with its trials' run directories, which outlive it if a file of the journal was emptied,
/// truncated or removed, or a line of it was damaged. What the journal lacks and the runs have is written to a file of its
/// own, and a warning says so: that a trial was begun, the values that a searcher program gave it, and the reports that the
/// scheduler wants, up to the run's newest checkpoint. Runs that are alive are left out. What is in no run, that a trial
/// became a clone, is a UsageError that names the file and line. Any process may call, before it runs trials.
void repair_journal(const Sweep& sweep);

}  // namespace trainrt::tune
