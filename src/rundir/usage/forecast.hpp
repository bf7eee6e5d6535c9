#pragma once
#include <optional>
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// A forecast of the time that a run still needs, in seconds, and of the number of further Slurm jobs.
struct Forecast {
  double training_s = 0;  ///< time of training steps
  double saves_s = 0;     ///< time for which the train thread will wait for saves of checkpoints
  double repeated_s = 0;  ///< time of steps repeated after failures, and of restarts in the same allocation
  double jobs_s = 0;      ///< time of starts and ends of jobs: one start and one end per further job
  double waiting_s = 0;   ///< time in Slurm's queue before further jobs
  /// false if further jobs are needed, but waiting_s is unknown because the run has not waited for a job so far
  bool waits_known = true;
  bool runs = false;  ///< true if an attempt is running; if not, the time until the next attempt starts is not included
  int more_jobs = 0;  ///< number of further jobs, after the running job; 0 also if the time limit of jobs is unknown
  double job_limit_s = 0;  ///< time limit of the job; 0 if the job has no limit, or if the limit is unknown
  /// a shorter time limit with which the run needs no additional job; 0 if no shorter limit is sufficient
  double advised_limit_s = 0;

  double left_s() const { return training_s + saves_s + repeated_s + jobs_s + waiting_s; }
};

/// Returns the forecast of a run that continues at its present speed. `attempts` are the run's records, oldest first; `now`
/// is the time in UTC. Pure function. Returns nothing in these cases:
/// - The number of iterations at the end of the run is unknown (AttemptRecord::expected).
/// - The run has made no progress yet, or has trained for less than 2 s.
/// - The jobs are too short to make progress.
///
/// Progress is counted in iterations; for a program that does not use trainrt's API, by the step or epoch in its output.
/// Let P be the productive time so far, and n the number of iterations that were made in this time and were not lost. Then
///   training = (remaining iterations) * P/n - (time since the last report).
/// If the last attempt has made at least 5 iterations, P/n is taken from this attempt alone, because earlier attempts may
/// have used other nodes. Overheads are assumed to remain proportional to the training time:
///   saves    = training * (time of waits for saves)/P
///   repeated = training * (lost time + waits and start-up of attempts that were restarted in the same allocation)/P.
/// Waits of more than 5 minutes within a job are not included, because the user caused them, not the restart policy.
///
/// In a job with time limit L, the time L - start - end is available for training, saves and repeated work. Here start is
/// the mean start-up time so far, and end is the mean shutdown time so far + 15 s. Work that does not fit into the rest of
/// the running job needs further jobs; each of them adds start, end, and the mean wait between two jobs so far. The advised
/// limit divides the work into jobs of equal length; it includes a reserve of 5 % and is rounded up to a multiple of 5
/// minutes.
std::optional<Forecast> forecast_of(std::span<const AttemptRecord> attempts, const std::string& now);

/// Returns the forecast as a short text for a progress line: "1:02:03 left", "9:00:00 left in this and 2 more
/// jobs" while a job of the run is running, "9:00:00 left in 3 jobs" after it.
std::string brief(const Forecast& forecast);

/// Returns advice on the time limit of further jobs: "this run needs this and 2 more jobs of 04:00:00; 03:40:00 would do".
/// The shorter limit is sufficient for the same number of jobs. Returns "" if the run needs no further job, or if the jobs'
/// time limit is unknown.
std::string advice_of(const Forecast& forecast);

/// Returns a duration in the format of Slurm: "04:00:00", or "1-02:00:00" for a day or more.
std::string slurm_time(double seconds);

}  // namespace trainrt::rundir
