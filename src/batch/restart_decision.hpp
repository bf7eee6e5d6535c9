#pragma once
#include <optional>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

namespace trainrt::batch {

/// Exit code of srun if srun itself fails (SLURM_EXIT_ERROR). In all other cases srun exits with the exit code of its
/// program.
constexpr int exit_of_srun = 99;

/// A node of the Slurm job's allocation as it was at the start of the job.
struct Node {
  std::string name;
  int tasks = 0;
  bool healthy = true;
  bool excluded = false;  ///< true if the run should avoid the node, because attempts failed on it or it is slow
  int cpus = 1;           ///< number of CPUs that the job has on the node
};

/// How the Slurm job ends, if Slurm or the user ends it.
enum class JobEnding {
  none,            ///< the job continues
  stop_requested,  ///< a stop signal arrived while the job is running: its time limit or a preemption is near
  requeued,        ///< Slurm ends the job and requeues it: after a preemption, `scontrol requeue` or a node failure
  time_limit,      ///< Slurm ends the job at its time limit
  cancelled        ///< the user ended the job: scancel, Ctrl-C or a closed terminal
};

/// The input of decide(): how an attempt (one start of all ranks) ended, and the state of its Slurm job.
struct Situation {
  int exit_code = 0;  ///< exit code of the Slurm job step; 99 (exit_of_srun) if srun itself failed, 128 + N after signal N
  std::string how;    ///< how the attempt ended, as a phrase for messages
  JobEnding ending = JobEnding::none;
  std::vector<Node> nodes;  ///< all nodes of the allocation; empty if Slurm did not answer
  int tasks = 0;            ///< number of tasks of a plain job step; 0: the sum of the tasks of all nodes
  /// Number of failed attempts in this allocation, including the last attempt. Attempts that ended by the loss of a node do
  /// not count.
  int failures = 0;
  int no_progress = 0;  ///< number of consecutive attempts without progress, including the last attempt
  int requeues = 0;     ///< number of requeues so far (SLURM_RESTART_COUNT)
  /// True if the job step needed all nodes of the allocation, and Slurm has removed one of them (the name is unknown).
  bool shrunk = false;
  /// True if the program does not report progress to trainrt, so its saved state is unknown.
  bool silent = false;
  bool has_checkpoint = true;  ///< false if the run has no checkpoint, so that the next attempt starts from the beginning
  /// True if the attempt stopped because one node of the allocation, which is now excluded, slowed the other nodes down.
  bool slow = false;
  /// True if the ranks have recorded that every restart would fail in the same way, or the last two attempts show it.
  bool permanent = false;
  /// True if a restart needs no pause: a copy of the State is in memory, and not more than one attempt in a row has failed
  /// before it made such a copy.
  bool restarts_at_once = false;
  /// Number of failures from which the pause before the restart is computed (more failures: a longer pause); if not
  /// set, `failures` is used.
  std::optional<int> failures_for_pause = {};
  /// Words that advice adds after "submit it again". They are " with --run.name=NAME (before --)" if the same command in
  /// a new job would start a new run, otherwise "".
  std::string again_with = {};
  std::string no_other_nodes;  ///< reason why a requeue cannot replace the excluded nodes by other ones; "" if it can
};

/// The limits on restarts and requeues that the config and the batch script set.
struct RestartLimits {
  int max_failures = 0;  ///< maximum number of restarts in one allocation
  int max_requeues = 0;
  int max_no_progress = 0;  ///< maximum number of consecutive attempts without progress; 0: unlimited
  int min_workers = 0;      ///< minimum number of workers (ranks) to continue with; 0: all workers are required
  int workers = 0;          ///< number of workers (ranks) on all nodes; 0: the number of tasks of the allocation
  /// Number of workers (ranks) of every job step, on any number of CPUs; 0: a job step has at most the tasks of its nodes
  int fixed_workers = 0;
  /// If nodes are excluded: true if the job should rather be requeued to get other nodes than run all `fixed_workers`
  /// workers on fewer nodes.
  bool prefers_other_nodes = false;
  int min_cpus = 1;  ///< minimum number of CPUs on which `fixed_workers` workers continue
  /// Maximum number of workers that fit into the memory of one node, if `fixed_workers` is set; 0: unknown.
  int max_workers_per_node = 0;
};

/// The action that the supervising command (`trainrt supervise`, or `trainrt -n` without Slurm) takes after an attempt has
/// ended.
struct RestartDecision {
  enum class Action { done, restart, requeue, leave_to_slurm, give_up };
  /// The restart limit that decided which action is taken.
  enum class Limit {
    none,
    max_failures,
    max_requeues,
    max_no_progress,
    min_workers,     ///< fewer workers (ranks) or CPUs are left than the configured minimum
    no_min_workers,  ///< workers (ranks) are missing, and all are needed because the config sets no minimum
  };
  Action action = Action::done;
  int exit_code = 0;               ///< exit code of the supervising command; unused if the action is a restart
  double wait_s = 0;               ///< delay before a restart, in seconds
  std::vector<std::string> nodes;  ///< nodes to restart on; empty: all nodes of the allocation
  int tasks = 0;                   ///< number of tasks to start on `nodes`
  /// True if the tasks are started on `nodes` even if there are fewer CPUs than tasks; the tasks of a node then share
  /// its CPUs.
  bool shares_cpus = false;
  std::string why;     ///< message with the decision and its reason; a sentence without a full stop
  std::string advice;  ///< advice to the user, as a sentence; "" without advice
  /// restart limit that decided which action is taken; the caller adds the name of its config key to `why`
  Limit limit = Limit::none;
};

/// Returns the action to take after an attempt has ended: restart, requeue, leave the job to Slurm, or give up. Pure
/// function.
RestartDecision decide(const Situation& situation, const RestartLimits& limits);

/// Returns the action to take before the first attempt in an allocation. Reads only `nodes`, `tasks`,
/// `requeues` and `no_other_nodes` of `situation`. Pure function. The possible actions are:
/// - start on all nodes, with RestartLimits::fixed_workers tasks if this number is set
/// - start without the excluded nodes
/// - requeue the job to get other nodes, only if it was not requeued before
RestartDecision begin(const Situation& situation, const RestartLimits& limits);

/// Returns the reason why the run must use excluded nodes (Node::excluded): neither this allocation nor a requeue has
/// enough other nodes. Returns "" if the run can avoid the excluded nodes. Pure function.
std::string why_not_without_excluded(const Situation& situation, const RestartLimits& limits);

}  // namespace trainrt::batch
