#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::batch {

/// Collects the messages of srun and slurmstepd about the end of a job step from the standard error of srun. Ignores the
/// output of the program.
class StepLines {
 public:
  /// A task (rank) that ended without notice to the other tasks, for example by a signal.
  struct DeadTask {
    std::string node;
    std::string tasks;  ///< numbers of the tasks that ended in the same way, "1" or "0-3,5"
    std::string how;    ///< srun's description of the end: "Killed", "Segmentation fault", "Exited with exit code 3"
  };

  /// Processes one line of srun's standard error, without its newline. A message of Slurm may follow output of the program
  /// on the same line.
  void take(std::string_view line);

  /// Returns the tasks that were killed by a signal or exited with an unexpected code. Expected codes are 0 and the codes
  /// that all ranks exit with together (64, 70, 75, 76).
  const std::vector<DeadTask>& dead() const { return dead_; }
  /// Returns whether a task exited with 75, and no task died: the ranks stopped on purpose.
  bool ranks_stopped() const { return stop_was_reported_ && dead_.empty(); }
  /// Returns the nodes that failed or could not be reached, according to srun's messages.
  const std::vector<std::string>& failed_nodes() const { return failed_nodes_; }
  /// Returns whether srun failed to start the job step.
  bool launch_failed() const { return launch_failed_; }
  /// Returns whether srun reported that the job has fewer nodes than were allocated. This happens after a failed node has
  /// come back; srun does not name the node.
  bool allocation_shrank() const { return allocation_shrank_; }
  /// Returns slurmstepd's reason for ending the job step: "PREEMPTION", "TIME LIMIT", "JOB REQUEUE" or "NODE FAILURE"; ""
  /// if it gave no reason.
  const std::string& cancel_reason() const { return cancel_reason_; }
  bool out_of_memory() const { return out_of_memory_; }
  /// Returns whether SIGUSR1 or SIGUSR2 killed a task, because the signal arrived before the task had installed its
  /// handler.
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
  bool stop_was_reported_ = false;  ///< whether a task exited with 75
  std::string cancel_reason_;
};

/// Describes the end of an attempt from the messages of srun, for attempts in which no rank could record the reason:
/// "killed: rank 1 on n2 by SIGKILL (srun exit 137)". `exit_code` is the exit code of srun.
std::string how_it_ended(const StepLines& lines, int exit_code);

/// Returns the name of the node that caused the end of the job step. This is a node that failed, or else the node of the
/// task that first crashed or was killed by SIGKILL.
///
/// Returns "" if no node is to blame: the task exited, ran out of memory, or was killed by a stop signal.
/// `ranks_ended_it` is true if the ranks recorded the reason for the end themselves. They then kill each other, so only the
/// node of a crash is blamed.
std::string node_to_blame(const StepLines& lines, bool ranks_ended_it);

}  // namespace trainrt::batch
