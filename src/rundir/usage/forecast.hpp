#pragma once
#include <optional>
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// The time that a run still needs, in seconds, and the jobs that it takes.
struct Forecast {
  double training_s = 0;       ///< in steps
  double saves_s = 0;          ///< the train thread stands still for saves
  double repeated_s = 0;       ///< steps that failures lose, and restarts in the same allocation
  double jobs_s = 0;           ///< starts and ends of further jobs, and the end of this one
  double waiting_s = 0;        ///< in the queue, before further jobs
  bool waits_known = true;     ///< false: there will be further jobs, and so far the run has never waited for one
  bool runs = false;           ///< false: an attempt has to start first; the wait for that is not included
  int more_jobs = 0;           ///< besides the one that runs; 0 too if the run's jobs have no time limit that is known
  double job_limit_s = 0;      ///< the job's time limit; 0: none, or not known
  double advised_limit_s = 0;  ///< a shorter limit with which as many jobs will do; 0: none

  double left_s() const { return training_s + saves_s + repeated_s + jobs_s + waiting_s; }
};

/// How long a run will still take if it goes on as it went so far. `attempts`: its records, oldest first; `now`: UTC.
/// Nothing if too little is known: no total (AttemptRecord::expected), no way made yet, less than 2 s of training, or a job
/// that is too short to get anywhere. Pure.
///
/// The way is counted in iterations (of a silent program in its position). With P = the productive time so far, and w = the
/// way that it made and that survived,
///   training = (the way that is left) * P/w - the time since the last report,
/// for P/w the last attempt's own if it has made at least 5 iterations: others may have had other nodes. What a second of
/// training cost besides is taken to go on:
///   saves    = training * (time in saves)/P
///   repeated = training * (lost time + waits and starts of the attempts that were restarted in the same allocation)/P;
/// waits of more than 5 minutes there are a person's, outside of Slurm, and do not count.
/// Of a job with time limit L, L - start - end is left for these, with start = the mean start-up so far and end = the mean
/// shutdown + 15 s, as early as a run stops. What does not fit into the rest of the job that runs takes further jobs, each
/// of which adds start, end, and the mean wait between two jobs so far. The advised limit is that of jobs of equal length,
/// with a reserve of 5 %, rounded up to 5 minutes.
std::optional<Forecast> forecast_of(std::span<const AttemptRecord> attempts, const std::string& now);

/// "1:02:03 left", "9:00:00 left in 2 more jobs": for a line of progress.
std::string brief(const Forecast& forecast);

/// "this run needs 2 more jobs of 04:00:00; 03:40:00 would do"; "" if it needs none, or the limit is not known.
std::string advice_of(const Forecast& forecast);

/// As Slurm takes a time: "04:00:00", "1-02:00:00" from a day on.
std::string slurm_time(double seconds);

}  // namespace trainrt::rundir
