#pragma once
#include <optional>
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// The time that a run still needs, in seconds, and the number of jobs.
struct Forecast {
  double training_s = 0;       ///< steps
  double saves_s = 0;          ///< waits of the train thread for saves
  double repeated_s = 0;       ///< steps repeated after failures, and restarts in the same allocation
  double jobs_s = 0;           ///< starts and ends of further jobs, and the end of this one
  double waiting_s = 0;        ///< in the queue, before further jobs
  bool waits_known = true;     ///< false: further jobs are needed, and the run has not waited for a job before
  bool runs = false;           ///< an attempt is running; otherwise the wait until one starts is not included
  int more_jobs = 0;           ///< number of jobs after the running one; 0 also if the jobs' time limit is unknown
  double job_limit_s = 0;      ///< time limit of the job; 0 if it has no limit, or if it is unknown
  double advised_limit_s = 0;  ///< a shorter limit that needs no more jobs; 0 if there is no such limit

  double left_s() const { return training_s + saves_s + repeated_s + jobs_s + waiting_s; }
};

/// Returns the forecast of a run that continues at its present speed. `attempts` are its records, oldest first; `now` is
/// UTC. Returns nothing if too little is known: no total (AttemptRecord::expected), no progress yet, less than 2 s of
/// training, or jobs too short to make progress. Pure function.
///
/// Progress is counted in iterations (for a silent program: in its position). With P = the productive time so far and n =
/// the iterations made in it that survived,
///   training = (remaining iterations) * P/n - the time since the last report.
/// P/n is taken from the last attempt alone if that has made at least 5 iterations, because earlier ones may have used
/// other nodes. Overheads are assumed to remain proportional:
///   saves    = training * (time in saves)/P
///   repeated = training * (lost time + waits and starts of attempts that were restarted in the same allocation)/P,
/// where waits of more than 5 minutes do not count: a user caused them, outside of Slurm.
///
/// A job with time limit L has L - start - end for these, where start is the mean start-up time so far, and end is the mean
/// shutdown time + 15 s. Work that does not fit into the rest of the running job needs further jobs; each adds start, end,
/// and the mean wait between two jobs so far. The advised limit is that of jobs of equal length, with a reserve of 5 %,
/// rounded up to 5 minutes.
std::optional<Forecast> forecast_of(std::span<const AttemptRecord> attempts, const std::string& now);

/// Returns a short text for a progress line: "1:02:03 left", "9:00:00 left in 2 more jobs".
std::string brief(const Forecast& forecast);

/// Returns "this run needs 2 more jobs of 04:00:00; 03:40:00 would do"; "" if it needs no more jobs, or if the limit is
/// unknown.
std::string advice_of(const Forecast& forecast);

/// Returns a time in Slurm's format: "04:00:00", or "1-02:00:00" for a day or more.
std::string slurm_time(double seconds);

}  // namespace trainrt::rundir
