#pragma once
#include <optional>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

namespace trainrt::batch {

/// Exit code of srun if srun itself fails (SLURM_EXIT_ERROR), as opposed to the exit code of the program.
constexpr int exit_of_srun = 99;

/// A node of the allocation as it was at the start of the job.
struct Node {
  std::string name;
  int tasks = 0;
  bool healthy = true;
  bool excluded = false;  ///< the run should not use it, if that is possible
};

/// Whether and how Slurm or the user ends the job.
enum class JobEnding {
  none,            ///< the job continues
  stop_requested,  ///< a stop signal came, and the job still runs: its time limit or a preemption is near
  requeued,        ///< Slurm ends the job and requeues it: preemption, `scontrol requeue`, or a failed node
  time_limit,      ///< Slurm ends the job at its time limit
  cancelled        ///< scancel, or Ctrl-C or a closed terminal
};

/// How an attempt ended, and the state of its job: all inputs of a RestartDecision.
struct Situation {
  int exit_code = 0;  ///< exit code of the step; exit_of_srun if srun failed, 128 + N after signal N
  std::string how;    ///< how the attempt ended, as a phrase
  JobEnding ending = JobEnding::none;
  std::vector<Node> nodes;     ///< all nodes of the allocation; empty if Slurm did not answer
  int failures = 0;            ///< failed attempts in this allocation, including this one; lost nodes do not count
  int no_progress = 0;         ///< consecutive attempts without progress, including this one
  int requeues = 0;            ///< number of requeues so far (SLURM_RESTART_COUNT)
  bool shrunk = false;         ///< the step needed the complete allocation, and Slurm has removed an unknown node from it
  bool silent = false;         ///< the program does not report progress, so its saved state is unknown
  bool slow = false;           ///< the attempt stopped because one of its nodes, now excluded, slowed the others down
  std::string no_other_nodes;  ///< why a requeue cannot replace the excluded nodes; "" if it can
};

/// The limits that the config and the batch script set.
struct RestartLimits {
  int max_failures = 0;  ///< maximum number of restarts in this allocation
  int max_requeues = 0;
  int max_no_progress = 0;  ///< 0: unlimited
  int min_workers = 0;      ///< 0: all workers are required
  int workers = 0;          ///< workers of a step on all nodes; 0: the number of tasks of the allocation
};

/// The action to take after an attempt.
struct RestartDecision {
  enum class Action { done, restart, requeue, leave_to_slurm, give_up };
  /// The limit that determined the action.
  enum class Limit {
    none,
    max_failures,
    max_requeues,
    max_no_progress,
    min_workers,     ///< fewer workers than the minimum are left
    no_min_workers,  ///< all workers are needed, because no minimum is set
  };
  Action action = Action::done;
  int exit_code = 0;               ///< exit code of supervise, unless the action is a restart
  double wait_s = 0;               ///< delay before a restart, in seconds
  std::vector<std::string> nodes;  ///< nodes to restart on; empty: all nodes of the allocation
  int tasks = 0;                   ///< number of tasks of a restart on `nodes`
  std::string why;                 ///< the decision and its reason; a sentence without full stop
  std::string advice;              ///< what the user can do, a sentence; "" if nothing
  Limit limit = Limit::none;       ///< the caller adds the name of its config key to `why`
};

/// Returns the action to take after an attempt. Pure function.
RestartDecision decide(const Situation& situation, const RestartLimits& limits);

/// Returns the action to take before the first attempt in an allocation: start on all nodes, start without the excluded
/// nodes, or requeue at once if the job was not requeued before. Uses only `nodes`, `requeues` and `no_other_nodes` of
/// `situation`. Pure function.
RestartDecision begin(const Situation& situation, const RestartLimits& limits);

/// Returns why the run must use its excluded nodes, in this allocation and after a requeue; "" if it can do without them.
/// Pure function.
std::string why_not_without_excluded(const Situation& situation, const RestartLimits& limits);

}  // namespace trainrt::batch
