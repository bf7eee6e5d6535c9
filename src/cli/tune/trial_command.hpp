#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "core/environment.hpp"

namespace trainrt::cli {

/// The tasks and nodes of the Slurm job, which the trials share; no tasks outside a job.
struct JobSize {
  int tasks = 0, nodes = 1;
  /// Returns how many trials of `workers` ranks can run in the job at the same time, at least 1; 1 outside a job.
  int groups(int workers) const { return tasks == 0 ? 1 : std::max(tasks / workers, 1); }
  /// Returns the number of nodes for `workers` ranks. Precondition: `tasks` is not 0.
  int nodes_of(int workers) const { return std::clamp((workers * nodes + tasks - 1) / tasks, 1, nodes); }
};

JobSize job_size(const Environment& environment);

/// Returns the path of this program.
std::string own_program();
/// Returns the additional arguments for srun in the environment variable TRAINRT_SRUN_ARGS, split at whitespace; empty
/// if it is not set.
std::vector<std::string> added_srun_words(const Environment& environment);
/// Returns the command that starts the ranks of a trial: srun on a part of the job, or outside Slurm this program.
std::vector<std::string> trial_command(int ranks, const JobSize& job, const Environment& environment);

}  // namespace trainrt::cli
