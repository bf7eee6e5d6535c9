#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::batch {

/// Collects the messages of srun and slurmstepd about the end of a step from its standard error. Output of the program is
/// ignored.
class StepLines {
 public:
  /// A task that ended in a way that the other tasks cannot notice.
  struct DeadTask {
    std::string node;
    std::string tasks;  ///< task numbers, "1" or "0-3,5"
    std::string how;    ///< srun's description: "Killed", "Segmentation fault", "Exited with exit code 3"
  };

  /// Adds a line of standard error, without its line break. A message may follow output of the program on the same line.
  void take(std::string_view line);

  /// Returns the tasks that died by a signal, ran out of memory, or exited with a code that trainrt's ranks do not agree
  /// on.
  const std::vector<DeadTask>& dead() const { return dead_; }
  /// Returns the nodes that failed or could not be reached, according to srun.
  const std::vector<std::string>& failed_nodes() const { return failed_nodes_; }
  /// Returns whether srun could not start the step.
  bool launch_failed() const { return launch_failed_; }
  /// Returns whether srun found fewer nodes in the job than it was allocated. This happens after a failed node came back;
  /// srun does not name the node.
  bool allocation_shrank() const { return allocation_shrank_; }
  /// Returns slurmstepd's reason for ending the step: "PREEMPTION", "TIME LIMIT", "JOB REQUEUE" or "NODE FAILURE"; ""
  /// without a reason.
  const std::string& cancel_reason() const { return cancel_reason_; }
  bool out_of_memory() const { return out_of_memory_; }
  /// Returns whether USR1 or USR2 killed a task that had not installed its handler yet.
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
  std::string cancel_reason_;
};

/// Returns how an attempt ended that could not record it itself: "killed: rank 1 on n2 by SIGKILL (srun exit 137)".
std::string how_it_ended(const StepLines& lines, int exit_code);

/// Returns the node that caused the end of the step: a node that failed, or the node of the task that died first of a
/// signal. Returns "" if no node is to blame: the task exited, ran out of memory, or was killed by a stop signal.
/// `ranks_ended_it` is true if the ranks recorded why they end; then they kill each other, and only a crash is blamed on
/// its node.
std::string node_to_blame(const StepLines& lines, bool ranks_ended_it);

}  // namespace trainrt::batch
