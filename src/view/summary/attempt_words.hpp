#pragma once
#include <string>

#include "rundir/records/attempt_record.hpp"
#include "rundir/records/rank_status.hpp"

namespace trainrt::view {

// How far an attempt came, in the words of all tables. "-": the train function does not count it.

/// Returns "0 to 120", or "0 to 120 (seen)" by the output of a program; "not reported" or "none seen" if it is not known.
std::string steps_of(const rundir::AttemptRecord& attempt);
/// Returns "0 to 12"; "-" also if it is not known.
std::string iterations_of(const rundir::AttemptRecord& attempt);
/// Returns up to where its work is in a checkpoint: "step 120", or "iteration 12" if there are no steps; "-": there is
/// none.
std::string saved_point_of(const rundir::AttemptRecord& attempt);

/// Returns what a rank is at: its phase. A rank whose first step can have begun is "training" although it gave no sign of
/// that yet, and "running" if its program says nothing.
std::string phase_of(const rundir::RankStatus& rank, const rundir::AttemptRecord& attempt);

}  // namespace trainrt::view
