#pragma once
#include <span>
#include <string>

#include "core/environment.hpp"

namespace trainrt::cli {

/// Sets environment variables of srun: the exit code for a failure of srun itself and, unless the user's batch script
/// has set them, PMIx and the number of CPUs per task.
void set_srun_variables(const Environment& environment);

/// Prepares the environment of this process for commands that start steps. Does nothing, unless this process runs in a
/// shell that is a Slurm step (launch/shell_step.hpp). Removes the variables of the shell's step. SLURM_NTASKS and
/// SLURM_NNODES become those of the job. SLURM_OVERLAP lets the new steps share the CPUs that the shell's step holds.
void leave_shell_step();

/// Prints a warning if `ranks` is less than the number of tasks of this shell's job. The warning names the command that
/// uses all tasks. `words` are the arguments of `trainrt run`. Must be called before the ranks are discovered or
/// started. Does nothing in a rank of a step, and outside of jobs.
void warn_of_unused_tasks(int ranks, std::span<const std::string> words);

}  // namespace trainrt::cli
