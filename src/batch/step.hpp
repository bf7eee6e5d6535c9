#pragma once
#include <string>
#include <vector>

#include "batch/signal_queue.hpp"
#include "batch/step_lines.hpp"

namespace trainrt::batch {

/// How a step ended.
struct StepEnd {
  int exit_code = 0;  ///< of srun; 128 + N if signal N ended it
  int signal = 0;     ///< the first stop signal that came to this process meanwhile, 0 for none
  StepLines lines;
};

/// Runs srun as a child, to its end, which this process outlives. Its standard error passes through here, at once and
/// unchanged; standard output is its own. Its standard input is `input`, which the caller keeps and closes; -1: /dev/null.
///
/// A task that dies ends the step everywhere: if it was alone on its node Slurm's PMIx plugin tells nobody. It has 3 s
/// to end by itself, then srun gets SIGTERM, on which it kills all tasks.
///
/// Stop signals that come to this process are passed on as USR1 (or USR2), which srun forwards to its tasks, and again
/// every 5 s: a task that starts meanwhile would miss the first. SIGTERM and SIGINT are passed on as USR1 too, after half a
/// second in which Slurm's own signal reaches the tasks: srun would kill them on the former and ask back on the latter.
/// A step that needs the whole allocation, and cannot have it since that has shrunk, gets SIGTERM as well: srun would wait.
/// Throws Error if the command cannot be started.
StepEnd run_step(const std::vector<std::string>& command, SignalQueue& signals, bool needs_whole_allocation = false,
                 int input = -1);

}  // namespace trainrt::batch
