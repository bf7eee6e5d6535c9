#pragma once
#include <string>
#include <vector>

#include "batch/signal_queue.hpp"
#include "batch/step_lines.hpp"

namespace trainrt::batch {

/// The result of run_step(): how the step ended.
struct StepEnd {
  int exit_code = 0;  ///< exit code of srun; 128 + N after signal N
  int signal = 0;     ///< first stop signal that this process received during the step; 0 without a signal
  StepLines lines;    ///< messages of srun and slurmstepd
};

/// Runs `command`, an srun, as a child process and waits until it has exited. Its standard error is copied to that of this
/// process at once and unchanged; standard output is inherited. Its standard input is `input`, which the caller owns, or
/// /dev/null if that is -1. Throws Error if the command cannot be started.
///
/// If a task dies, the step is ended on all nodes, because Slurm's PMIx plugin does not notify the others if the task was
/// alone on its node. The step has 3 s to end without intervention; then srun gets SIGTERM, and kills all tasks.
///
/// A stop signal that this process receives is sent to srun as USR1 (USR2 as USR2), which srun forwards to its tasks. It is
/// sent again every 5 s, for tasks that were still starting. SIGTERM and SIGINT are sent as USR1 after 0.5 s, in which
/// Slurm's own signal reaches the tasks, because srun itself kills its tasks on SIGTERM and asks back on SIGINT.
///
/// With `needs_whole_allocation`, srun gets SIGTERM if the allocation has lost a node: it would wait forever.
StepEnd run_step(const std::vector<std::string>& command, SignalQueue& signals, bool needs_whole_allocation = false,
                 int input = -1);

}  // namespace trainrt::batch
