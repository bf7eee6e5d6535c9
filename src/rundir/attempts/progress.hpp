#pragma once
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// So many of the newest attempts are looked at: a start does not take longer the longer the history is.
inline constexpr std::size_t attempts_that_matter = 200;

/// How many of a job's last attempts, in a row, committed no checkpoint beyond the one they began with. Those that failed,
/// were killed, or stopped by themselves count; those that Slurm ended, those whose config was wrong, and those of programs
/// that said nothing, are passed over. If such a program's output is looked at, an attempt gets further if that shows it
/// beyond all earlier attempts.
/// `attempts` are in order. Pure.
int attempts_without_progress(std::span<const AttemptRecord> attempts, const std::string& job_id);

/// The newest attempt was a program's that said nothing: what it saved is not known.
bool last_attempt_was_silent(const std::string& run_dir);

/// Throws NoProgress if `max_no_progress` attempts of this Slurm job (0: any number) got no further: somebody requeues it
/// in a circle. Does nothing outside Slurm. One rank calls, before it starts an attempt.
void require_progress(const std::string& run_dir, int max_no_progress);

}  // namespace trainrt::rundir
