#pragma once
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// Maximum number of attempts that a start reads, so that it does not slow down as the history grows.
inline constexpr std::size_t max_recent_attempts = 200;

/// Returns how many of a job's last attempts, in a row, committed no checkpoint beyond the one that they began with.
///
/// Attempts that failed, were killed, or stopped themselves count. Attempts that Slurm ended, that had an invalid config,
/// or of silent programs are skipped. If a silent program's output is read, its attempt makes progress if the output shows
/// a position beyond all earlier attempts. `attempts` are ordered by number. Pure function.
int attempts_without_progress(std::span<const AttemptRecord> attempts, const std::string& job_id);

/// Returns whether the newest attempt was one of a silent program, so that its saved progress is unknown.
bool last_attempt_was_silent(const std::string& run_dir);

/// Throws NoProgress if the last `max_no_progress` attempts of this Slurm job have made no progress; 0 disables the check.
/// Does nothing outside Slurm. One rank calls it before it starts an attempt.
void require_progress(const std::string& run_dir, int max_no_progress);

}  // namespace trainrt::rundir
