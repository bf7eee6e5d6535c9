#pragma once
#include "core/environment.hpp"

namespace trainrt::launch {

/// True in a process that was started by a shell which is a Slurm step: of `salloc` with use_interactive_step (its step id
/// is 0xFFFFFFF0 or more), or of `srun --pty bash`. Such a process is no rank of the step. What srun or another launcher
/// itself started is one, also with --pty.
bool is_shell_step(const Environment& environment);

/// Removes the step's variables, of Slurm and PMIx, from the environment of this process: what it starts then finds itself
/// in the job, outside of any step. Those that also describe the job (SLURM_NTASKS) stay. No other thread may run.
void leave_shell_step();

}  // namespace trainrt::launch
