#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "batch/restart_decision.hpp"
#include "core/environment.hpp"

namespace trainrt::batch {

/// The fields of `scontrol show job --oneliner` that a RestartDecision depends on.
struct JobFacts {
  std::string state;   ///< "RUNNING"
  std::string reason;  ///< "None", "TimeLimit"
  int restarts = 0;    ///< number of requeues; Slurm increments it as soon as it decides to requeue
  std::string nodes;   ///< current nodes, "n[1,3]"; failed nodes have been removed (sbatch --no-kill)
  int node_count = 0;
  int tasks = 0;
  std::string partition;        ///< one or several: "main,high"
  std::string requested_nodes;  ///< nodes that the job requests by name; "" if it accepts any
  std::string excluded_nodes;   ///< nodes that the job must not get
  bool may_requeue = true;
};

/// Returns whether `text` consists of digits.
bool is_number(std::string_view text);

/// Returns SLURM_JOB_ID or, for a task of an array, "8_3". Commands get the task id, because the job id of one of the tasks
/// is that of the array.
std::string task_id_of(const Environment& environment);

/// Parses the output of `scontrol show job --oneliner`; returns nullopt if it describes no job. Pure function.
std::optional<JobFacts> parse_job(std::string_view text);

/// The id and the working directory of a job.
struct JobLocation {
  std::string id;        ///< value of SLURM_JOB_ID; a task of an array has its own
  std::string work_dir;  ///< "" if unknown
};
/// Parses the output of `scontrol show job`; returns nullopt if it describes no job. Pure function.
std::optional<JobLocation> parse_job_location(std::string_view text);
/// Queries Slurm for job "4711" or array task "4711_3", for up to 20 s. If Slurm does not know the job any more, the result
/// has `job` as its id and no directory. Throws UsageError if `job` is not a job number.
JobLocation locate_job(const std::string& job);

/// Parses the output of `sinfo --Node --format="%N %T"`: maps each node to whether a step can run on it. Pure function.
std::map<std::string, bool> parse_node_states(std::string_view text);

/// Parses SLURM_TASKS_PER_NODE: "2(x3),1" is 2, 2, 2, 1. Returns an empty list if it is malformed. Pure function.
std::vector<int> parse_tasks_per_node(std::string_view text);

/// Parses the output of `squeue --steps --format=%i`: returns the steps that srun started, such as "12.0", without
/// "12.batch" and "12.extern". Pure function.
std::vector<std::string> parse_steps(std::string_view text);

/// The facts from which job_ending() derives whether and how a job ends.
struct JobEndingFacts {
  int signal = 0;               ///< stop signal that supervise received; 0 if it received no signal
  std::string cancel_reason;    ///< StepLines::cancel_reason()
  std::optional<JobFacts> job;  ///< nullopt if Slurm did not answer
  int restart_count = 0;        ///< SLURM_RESTART_COUNT of this job
};
/// Returns whether and how the job ends. Its state alone does not show that, because it is COMPLETING for each cause. A
/// Restarts field above SLURM_RESTART_COUNT means that the job is requeued; the reason of the job or slurmstepd's message
/// means that its time is over. Pure function.
JobEnding job_ending(const JobEndingFacts& facts);

/// Returns whether `scontrol requeue` requeued the job, or found it requeued already. Pure function.
bool requeue_succeeded(int exit_code, std::string_view text);

/// The Slurm job of this process. Each query is an RPC to Slurm, and waits for up to 20 s.
class SlurmJob {
 public:
  /// Returns the job that contains this process; nullopt outside a job.
  static std::optional<SlurmJob> of(const Environment& environment);

  const std::string& id() const { return id_; }            ///< SLURM_JOB_ID
  const std::string& task_id() const { return task_id_; }  ///< id() or, for a task of an array, "8_3"
  int restart_count() const { return restart_count_; }

  std::optional<JobFacts> show() const;
  /// Returns the nodes of the original allocation. Those that `facts` no longer lists, or that sinfo reports as unusable,
  /// are not healthy. All count as healthy if `facts` is empty or sinfo does not answer.
  std::vector<Node> nodes(const std::optional<JobFacts>& facts) const;
  /// Ends the steps of the job that still run, for example after their srun was killed: they get SIGUSR1, to stop and save,
  /// and SIGKILL after 20 s. Blocks until all have ended, up to a minute.
  void end_steps() const;
  /// Requeues the job; returns "" or the reason why it failed.
  std::string requeue() const;
  /// Returns why a requeue would not replace the nodes in `excluded`; "" if it would.
  std::string no_other_nodes(const std::optional<JobFacts>& facts, std::span<const std::string> excluded) const;
  /// Excludes `nodes`, and those that the job excluded `before`, from the requeued job. Must be called while the job is
  /// pending. Returns "" or the reason why it failed.
  std::string exclude(std::span<const std::string> nodes, const std::optional<JobFacts>& before) const;

 private:
  std::string id_;
  std::string task_id_;
  int restart_count_ = 0;
  std::vector<Node> allocated_;
};

}  // namespace trainrt::batch
