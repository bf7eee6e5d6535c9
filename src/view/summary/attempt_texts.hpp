#pragma once
#include <string>

#include "rundir/records/attempt_record.hpp"
#include "rundir/records/rank_status.hpp"

namespace trainrt::view {

// The progress of an attempt as text, the same in all tables. "-" means that the train function does not count it.

/// Returns the range of steps: "0 to 120"; "0 to 120 (seen)" if it was found in the output of a program; "not reported" or
/// "none seen" if it is unknown.
std::string steps_of(const rundir::AttemptRecord& attempt);
/// Returns the range of iterations: "0 to 12"; "-" if it is unknown.
std::string iterations_of(const rundir::AttemptRecord& attempt);
/// Returns the step of the last checkpoint of the attempt, "step 120", or its iteration, "iteration 12", if the run has no
/// steps; "-" without a checkpoint.
std::string saved_point_of(const rundir::AttemptRecord& attempt);

/// Returns the phase of a rank. A rank that may have begun its first step, but has not recorded it yet, is "training", or
/// "running" if its program does not report progress.
std::string phase_of(const rundir::RankStatus& rank, const rundir::AttemptRecord& attempt);

}  // namespace trainrt::view
