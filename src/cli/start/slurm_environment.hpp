#pragma once
#include <span>
#include <string>

#include "core/environment.hpp"

namespace trainrt::cli {

/// Sets environment variables of this process for srun that the user's batch script may lack: the exit code of a failure of
/// srun itself, PMIx, and the CPUs per task.
void set_srun_variables(const Environment& environment);

/// In a shell that is a Slurm step (launch/shell_step.hpp): prepares the environment of this process for commands that
/// start steps. Removes the variables of the shell's step. SLURM_NTASKS and SLURM_NNODES become those of the job, and
/// SLURM_OVERLAP lets the new steps share the CPUs that the shell's step holds. Elsewhere it does nothing.
void leave_shell_step();

/// Warns if `ranks` is less than the number of tasks of this shell's job, and names the command that uses all of them.
/// `words` are those of `trainrt run`. Call before the ranks are found or started. Does nothing in a rank of a step, and
/// outside of jobs.
void warn_of_unused_tasks(int ranks, std::span<const std::string> words);

}  // namespace trainrt::cli
