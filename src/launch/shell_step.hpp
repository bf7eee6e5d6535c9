#pragma once
#include "core/environment.hpp"

namespace trainrt::launch {

/// Returns whether this process was started from an interactive shell that is itself a Slurm step: by `salloc` with
/// use_interactive_step (step id 0xFFFFFFF0 or higher), or by `srun --pty bash`. Such a process is not a rank of the step.
/// False for a program that srun (with or without --pty) or another launcher started directly.
bool is_shell_step(const Environment& environment);

/// Removes the variables of the step (of Slurm and PMIx) from the environment of this process, so that its child processes
/// belong to the job, but to no step. Variables that also describe the job, such as SLURM_NTASKS, are kept. No other thread
/// may be running.
void leave_shell_step();

}  // namespace trainrt::launch
