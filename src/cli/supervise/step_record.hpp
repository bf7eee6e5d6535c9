#pragma once
#include <optional>
#include <string>

#include "batch/slurm_job.hpp"
#include "batch/step.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::cli {

/// Completes the record of an attempt after its Slurm job step has ended:
/// - If the ranks were killed and recorded no end, records the end, and the node that caused it.
/// - If Slurm ended the job (`ending`), appends Slurm's reason.
///
/// `attempt` is nullopt if the step ended before it began an attempt. A running attempt of another start of the same job
/// is not changed. Logs a warning if the record cannot be written. Returns a phrase for messages:
/// "attempt 3: killed: rank 1 on n2 by SIGKILL (srun exit 137)".
std::string record_step_end(const std::string& run_dir, const std::optional<rundir::AttemptRecord>& attempt,
                            const batch::StepEnd& end, batch::JobEnding ending);

/// Records the end of a run's newest attempt if the attempt was killed by a requeue of `job`. A killed attempt cannot
/// record its own end.
void record_end_by_requeue(const std::string& run_dir, const batch::SlurmJob& job);

/// Returns whether a restart could not change the result of a job step with this exit code: the run is finished,
/// invalid or without progress.
bool is_final(int exit_code);

}  // namespace trainrt::cli
