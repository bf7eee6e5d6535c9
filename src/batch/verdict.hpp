#pragma once
#include <optional>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

namespace trainrt::batch {

/// What srun itself ends with when it fails (SLURM_EXIT_ERROR), as against what the program ends with.
constexpr int exit_of_srun = 99;

/// A node of the allocation as it was given.
struct Node {
  std::string name;
  int tasks = 0;
  bool healthy = true;
  bool excluded = false;  ///< the run does without it, if it can
};

/// Who ends the job, as far as Slurm shows it.
enum class Ending {
  none,          ///< nobody: the job goes on
  stop_asked,    ///< a stop signal came, and the job runs on: the time limit or a preemption comes near
  returns,       ///< Slurm ends the job and requeues it (preemption, requeue by hand, a node that failed)
  time_is_over,  ///< Slurm ends the job at its time limit
  for_good       ///< cancelled: by scancel, or by hand at the terminal
};

/// How an attempt ended and how the job stands then: all that a verdict depends on.
struct Situation {
  int exit_code = 0;  ///< of the step; exit_of_srun if srun failed, 128 + N if signal N ended it
  std::string how;    ///< how the attempt ended, in words
  Ending ending = Ending::none;
  std::vector<Node> nodes;  ///< of the whole allocation; none if Slurm could not be asked
  int failures = 0;         ///< in this allocation, this attempt with them; a node that was lost is none
  int no_progress = 0;      ///< attempts in a row that got no further, this one with them
  int requeues = 0;         ///< so far: SLURM_RESTART_COUNT
  bool shrunk = false;      ///< the step needed the whole allocation, and Slurm has taken a node out of it, unnamed
  bool silent = false;      ///< the attempt was a program's that does not report progress: nobody knows what it saved
  bool slow = false;        ///< it has stopped because one of its nodes, which is excluded now, held the others up
  /// Why a requeue would not bring other nodes in place of those that are excluded; "" if it would.
  std::string no_other_nodes;
};

/// What the config and the batch script allow.
struct Limits {
  int max_failures = 0;  ///< restarts in this allocation
  int max_requeues = 0;
  int max_no_progress = 0;  ///< 0: any number
  int min_workers = 0;      ///< 0: never fewer
  int workers = 0;          ///< of the whole step; 0: as many as the allocation has tasks
};

/// What to do after an attempt.
struct Verdict {
  enum class Action { done, restart, requeue, leave_to_slurm, give_up };
  /// Of Limits: the one that a verdict depends on.
  enum class Limit {
    none,
    max_failures,
    max_requeues,
    max_no_progress,
    min_workers,     ///< so few workers are not enough
    no_min_workers,  ///< all workers are needed, since no least number of them is set
  };
  Action action = Action::done;
  int exit_code = 0;               ///< that supervise ends with, if it ends
  double wait_s = 0;               ///< before a restart
  std::vector<std::string> nodes;  ///< of a restart on a part of the allocation; none: on all of it
  int tasks = 0;                   ///< of such a restart
  std::string why;                 ///< what was decided, and why: a sentence without its full stop
  std::string advice;              ///< a sentence: what the user can do; "" = nothing
  Limit limit = Limit::none;       ///< that decided, for whoever knows what it is called
};

/// Pure.
Verdict decide(const Situation& situation, const Limits& limits);

/// What to do before the first attempt in an allocation, of which only the nodes, the requeues and `no_other_nodes` count:
/// to start it on all nodes, or without those that are excluded; or to requeue at once, if the job has not been requeued
/// before. Pure.
Verdict begin(const Situation& situation, const Limits& limits);

/// "" if a run can do without the nodes that are excluded, in this allocation or the next, else why not. Pure.
std::string why_not_without_excluded(const Situation& situation, const Limits& limits);

}  // namespace trainrt::batch
