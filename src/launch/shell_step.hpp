#pragma once
#include "core/environment.hpp"

namespace trainrt::launch {

/// Returns whether this process was started from an interactive shell that is itself a Slurm job step, so that the process
/// is not a rank of this step. Such shells are started by `salloc` with use_interactive_step (step id 0xFFFFFFF0 or
/// higher), or by `srun --pty bash`. Returns false for a program that srun (with or without --pty) or another launcher
/// started directly.
bool is_shell_step(const Environment& environment);

/// Removes the environment variables of the Slurm job step and of PMIx from this process. Its child processes then belong
/// to the Slurm job, but to no job step. Variables that also describe the job, such as SLURM_NTASKS, are kept. No other
/// thread may be running.
void leave_shell_step();

}  // namespace trainrt::launch
