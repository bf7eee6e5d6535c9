#pragma once
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// Maximum number of records of earlier attempts that are read before a restart, by `supervise` and by the count of
/// attempts without progress. The limit keeps restarts fast as the number of attempts grows.
inline constexpr std::size_t max_recent_attempts = 200;

/// Returns the number of consecutive attempts, at the end of `attempts`, that made no progress in the Slurm job `job_id`.
/// `attempts` are ordered by number. Pure function.
/// - An attempt makes progress if it commits a checkpoint beyond the one with which it began. An attempt of a program that
///   does not use trainrt's API makes progress if the program's output mentions a higher step or epoch than in all earlier
///   attempts.
/// - Attempts that failed, were killed, or stopped themselves are counted.
/// - Attempts that Slurm ended, that had an invalid config, or of which the progress is unknown are skipped.
int attempts_without_progress(std::span<const AttemptRecord> attempts, const std::string& job_id);

/// Returns whether the newest attempt ran a program that did not use trainrt's API, so that its saved progress is unknown.
bool last_attempt_was_silent(const std::string& run_dir);

/// Returns whether the newest attempt or an earlier one restored, stepped or reported through trainrt.
bool has_reporting_attempt(const std::string& run_dir);

/// Throws NoProgress if the last `max_no_progress` attempts in this Slurm job have made no progress; 0 disables the check.
/// Does nothing outside Slurm. Called by one rank before it starts an attempt.
void require_progress(const std::string& run_dir, int max_no_progress);

}  // namespace trainrt::rundir
