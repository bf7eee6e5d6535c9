#pragma once
#include <string>
#include <vector>

#include "batch/signal_queue.hpp"
#include "batch/step_lines.hpp"

namespace trainrt::batch {

/// The result of run_step(): how the Slurm job step ended.
struct StepEnd {
  int exit_code = 0;  ///< exit code of srun; 128 + N if signal N killed it
  int signal = 0;     ///< first stop signal that this process received during the job step; 0 if it received no signal
  StepLines lines;    ///< messages of srun and slurmstepd about the end of the job step
};

/// Runs the srun command `command` as a child process and blocks until it has exited. Throws Error if the command cannot be
/// started.
/// - The standard error of srun is copied unchanged and without delay to that of this process. Standard output is
///   inherited.
/// - The standard input of srun is the descriptor `input`, which the caller owns, or /dev/null if `input` is -1.
///
/// If a task dies, the job step is ended on all nodes. (Slurm's PMIx plugin does not notify the other ranks if the task was
/// alone on its node.) The job step first has 3 s to end without intervention. Then srun gets SIGTERM and kills all tasks.
///
/// Stop signals that this process receives:
/// - SIGUSR1 and SIGUSR2 are sent to srun at once, which forwards them to its tasks.
/// - Instead of any other stop signal, srun gets SIGUSR1, after 0.5 s in which Slurm's own signal may reach the tasks.
///   SIGTERM itself would make srun kill its tasks, and SIGINT would make it ask for confirmation.
/// - The signal is sent again every 5 s, for tasks that were still starting.
///
/// If `needs_whole_allocation` is true and the allocation has lost a node, srun gets SIGTERM, because it would wait
/// forever.
StepEnd run_step(const std::vector<std::string>& command, SignalQueue& signals, bool needs_whole_allocation = false,
                 int input = -1);

}  // namespace trainrt::batch
