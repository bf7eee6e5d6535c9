#pragma once
#include <optional>
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"
#include "rundir/records/rank_status.hpp"

namespace trainrt::view {

// This file declares functions that describe the progress of an attempt; all tables show these texts. "-" means that
// the train function does not count the value.

/// Returns the range of steps of an attempt: "0 to 120"; "0 to 120 (seen)" if the steps were found in the output of a
/// program; "36 to 120 (from memory)" if the attempt began from a copy of the State in memory; "not reported" or "none
/// seen" if the steps are unknown.
std::string steps_of(const rundir::AttemptRecord& attempt);
/// Returns the range of iterations of an attempt: "0 to 12"; "-" if it is unknown.
std::string iterations_of(const rundir::AttemptRecord& attempt);
/// Returns the step of the last checkpoint of the attempt ("step 120"), or its iteration ("iteration 12") if the run
/// has no steps; "-" if there is no checkpoint.
std::string saved_point_of(const rundir::AttemptRecord& attempt);

/// Returns the name of the phase of a rank. A rank that may have begun its first step, but has not recorded the step
/// yet, is "training", or "running" if the rank's program does not report progress.
std::string phase_of(const rundir::RankStatus& rank, const rundir::AttemptRecord& attempt);

/// Returns the ended attempt that announces the start of the next one (AttemptRecord::next_start); nullptr if the run
/// has finished, or if no start was announced. `attempts` are the attempts of the run, oldest first, and `now` is the
/// UTC time. If the next attempt has a record already, but still waits for its announced start, it counts as not
/// started.
const rundir::AttemptRecord* announcing_attempt(rundir::RunState state, std::span<const rundir::AttemptRecord> attempts,
                                                const std::string& now);

/// Returns a description of the announced start: "attempt 3 starts in 8 s (restart 2 of 3)"; "" if there is none.
std::string next_start_text(rundir::RunState state, std::span<const rundir::AttemptRecord> attempts,
                            const std::string& now);

}  // namespace trainrt::view
