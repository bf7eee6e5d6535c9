#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::batch {

/// What srun and slurmstepd say on standard error of the end of a step. Lines of the program itself are passed over.
class StepLines {
 public:
  /// A task that ended in a way that the others cannot know of.
  struct DeadTask {
    std::string node;
    std::string tasks;  ///< "1", "0-3,5"
    std::string how;    ///< srun's word: "Killed", "Segmentation fault", "Exited with exit code 3"
  };

  /// One line, without its end. What the program wrote before it on the same line is passed over.
  void take(std::string_view line);

  /// Tasks that died by a signal, out of memory, or with an exit code that trainrt does not agree on among its ranks.
  const std::vector<DeadTask>& dead() const { return dead_; }
  /// Nodes that srun says failed, or could not be reached.
  const std::vector<std::string>& failed_nodes() const { return failed_nodes_; }
  /// srun could not start the step, whatever it ends with.
  bool launch_failed() const { return launch_failed_; }
  /// The job has fewer nodes than it was given, which srun alone says, and not which: one that failed came back, and Slurm
  /// ended there what it took for the job as it was before.
  bool allocation_shrank() const { return allocation_shrank_; }
  /// Why Slurm ends the step, in slurmstepd's words: "PREEMPTION", "TIME LIMIT", "JOB REQUEUE", "NODE FAILURE"; "" if it
  /// does not say.
  const std::string& due_to() const { return due_to_; }
  bool out_of_memory() const { return out_of_memory_; }
  /// USR1 or USR2 ended a task before it could take it as a wish to stop.
  bool stop_signal_killed() const { return stop_signal_killed_; }

 private:
  void take_message(std::string_view line);
  void take_task(std::string_view node, std::string_view text);

  std::vector<DeadTask> dead_;
  std::vector<std::string> failed_nodes_;
  bool launch_failed_ = false;
  bool allocation_shrank_ = false;
  bool out_of_memory_ = false;
  bool stop_signal_killed_ = false;
  std::string due_to_;
};

/// "killed: rank 1 on n2 by SIGKILL (srun exit 137)": how an attempt ended that could not say it itself.
std::string how_it_ended(const StepLines& lines, int exit_code);

/// The node at which the step ended: it failed, or a task there died of a signal first; "" if none is to blame, as if a
/// task has ended by itself, was out of memory, or was killed by a stop. `ranks_ended_it`: the ranks have said why they
/// end, and end each other: then only a crash tells.
std::string node_to_blame(const StepLines& lines, bool ranks_ended_it);

}  // namespace trainrt::batch
