#pragma once
#include <string>

namespace trainrt::rundir {

/// The announced start of the next attempt. A supervising process stores it in the record of the attempt that has
/// ended; if the ranks restart in the same processes, rank 0 stores it.
struct NextStart {
  std::string time;       ///< UTC: when the attempt will be started or, if `requeued`, when the job was requeued
  bool requeued = false;  ///< the attempt starts when Slurm starts the requeued job
  int restart = 0;        ///< number of this restart in the allocation; 0 if it is not due to a failure
  int max_restarts = 0;   ///< maximum number of restarts in the allocation
};

/// Returns whether the next attempt can still be expected at the UTC time `now`: its job waits in the queue, or its
/// announced start is in the future or less than 120 s ago. Pure function.
bool is_expected(const NextStart& next, const std::string& now);

/// Returns a description of the start of attempt `number`: "attempt 3 starts in 8 s (restart 2 of 3)". `job_id` is the job
/// of the attempt that has ended. Pure function.
std::string in_words(const NextStart& next, int number, const std::string& job_id, const std::string& now);

}  // namespace trainrt::rundir
