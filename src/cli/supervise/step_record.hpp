#pragma once
#include <optional>
#include <string>

#include "batch/slurm_job.hpp"
#include "batch/step.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::cli {

/// Completes the record of the attempt that a Slurm job step was, after the step has ended:
/// - If the ranks were killed and wrote no end, writes the end, and the node that caused it.
/// - If Slurm ended the job (`ending`), appends Slurm's reason.
///
/// `attempt` is nullopt if the step ended before it began an attempt. Logs a warning if the record cannot be written.
/// Returns how the attempt ended, as a phrase for messages: "attempt 3: killed: rank 1 on n2 by SIGKILL (srun exit 137)".
std::string record_step_end(const std::string& run_dir, const std::optional<rundir::AttemptRecord>& attempt,
                            const batch::StepEnd& end, batch::JobEnding ending);

/// Writes the end of the newest attempt of a run, if it was killed when `job` was requeued and so could not write it
/// itself.
void record_end_by_requeue(const std::string& run_dir, const batch::SlurmJob& job);

/// Returns whether the exit code of a job step means that the run is finished, invalid or without progress, so that a
/// restart could not change the result.
bool is_final(int exit_code);

}  // namespace trainrt::cli
