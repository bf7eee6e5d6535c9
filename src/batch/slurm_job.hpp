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

/// The fields of the output of `scontrol show job --oneliner` that decide whether and how a failed run is restarted
/// (RestartDecision).
struct JobFacts {
  std::string state;   ///< state of the job: "RUNNING", "COMPLETING"
  std::string reason;  ///< Slurm's reason for the state: "None", "TimeLimit"
  int restarts = 0;    ///< number of times that the job was requeued; Slurm increments it as soon as it decides to requeue
  /// Current nodes of the job as a host list, "n[1,3]", without failed nodes that Slurm has removed from the job (sbatch
  /// --no-kill).
  std::string nodes;
  int node_count = 0;
  int tasks = 0;
  std::string partition;        ///< partition of the job, or several: "main,high"
  std::string requested_nodes;  ///< nodes that the job requests by name; "" if it accepts any node
  std::string excluded_nodes;   ///< nodes that Slurm must not allocate to the job
  bool may_requeue = true;
};

/// Returns whether `text` is not empty and consists of digits only.
bool is_number(std::string_view text);

/// Returns the job id to pass to Slurm's commands: SLURM_JOB_ID or, for a task of a job array, ARRAY_TASK such as "8_3".
/// The SLURM_JOB_ID of one task of an array is also the id of the complete array, and would be ambiguous.
std::string task_id_of(const Environment& environment);

/// Parses the output of `scontrol show job --oneliner`; returns the fields of the job, or nullopt if the output describes
/// no job. Pure function.
std::optional<JobFacts> parse_job(std::string_view text);

/// The id and the working directory of a Slurm job.
struct JobLocation {
  std::string id;        ///< the job id, as in SLURM_JOB_ID; each task of a job array has its own
  std::string work_dir;  ///< working directory of the job; "" if unknown
};
/// Parses the output of `scontrol show job`; returns the id and the working directory of the job, or nullopt if the output
/// describes no job. Pure function.
std::optional<JobLocation> parse_job_location(std::string_view text);
/// Queries Slurm for job "4711", or for task 3 of job array 4711 as "4711_3"; blocks for up to 20 s. If Slurm does not know
/// the job any more or does not answer, the result has `job` as its id and no directory. Throws UsageError if `job` is not
/// a job number.
JobLocation locate_job(const std::string& job);

/// Whether nodes that do not respond, or that Slurm is powering up or down, count as lost or as usable.
enum class UnreadyNodes { lost, usable };

/// Parses the output of `sinfo --Node --format="%N %T"`; returns a map from the name of each node to whether a job step can
/// run on the node. Pure function.
std::map<std::string, bool> parse_node_states(std::string_view text, UnreadyNodes unready = UnreadyNodes::lost);

/// Parses the value of SLURM_TASKS_PER_NODE or SLURM_JOB_CPUS_PER_NODE; returns the number of each node: "2(x3),1" is 2,
/// 2, 2, 1. Returns an empty list if the value is malformed. Pure function.
std::vector<int> parse_tasks_per_node(std::string_view text);

/// Parses the output of `squeue --steps --format=%i`; returns the ids of the job steps that srun started, such as "12.0".
/// Omits steps of other kinds, such as "12.batch" and "12.extern". Pure function.
std::vector<std::string> parse_steps(std::string_view text);

/// The input of job_ending(): signals, messages and the job's state, which indicate whether and how a Slurm job ends.
struct JobEndingFacts {
  /// First stop signal (SIGTERM, SIGUSR1 ...) that the supervising process received; 0 if it received no signal.
  int signal = 0;
  std::string cancel_reason;    ///< slurmstepd's reason for ending the job step, such as "TIME LIMIT"; "" without a reason
  std::optional<JobFacts> job;  ///< state of the job according to scontrol; nullopt if Slurm did not answer
  int restart_count = 0;        ///< number of requeues before this job started (SLURM_RESTART_COUNT)
};
/// Returns whether and how a Slurm job ends. The job's state alone does not show how, because it is COMPLETING in all
/// cases. Pure function. Indications that are evaluated, among others:
/// - The Restarts field of scontrol is above SLURM_RESTART_COUNT: the job is being requeued.
/// - The job's reason is TimeLimit, or slurmstepd printed TIME LIMIT: the job has reached its time limit.
JobEnding job_ending(const JobEndingFacts& facts);

/// Returns whether `scontrol requeue` succeeded, from its exit code and its output `text`. A job that was requeued already
/// counts as success. Pure function.
bool requeue_succeeded(int exit_code, std::string_view text);

/// The Slurm job that contains this process. Each function that queries or changes the job runs a Slurm command (an RPC to
/// the controller) and blocks for up to 20 s, unless stated otherwise.
class SlurmJob {
 public:
  /// Returns the Slurm job that contains this process; nullopt outside a job.
  static std::optional<SlurmJob> of(const Environment& environment);

  const std::string& id() const { return id_; }  ///< SLURM_JOB_ID
  /// The job id to pass to Slurm's commands: id() or, for a task of a job array, "8_3".
  const std::string& task_id() const { return task_id_; }
  int restart_count() const { return restart_count_; }

  std::optional<JobFacts> show() const;
  /// Returns the nodes of the job's original allocation. A node is not healthy if the job no longer has it (`facts`), or if
  /// sinfo reports it as unusable. All nodes count as healthy if `facts` is empty or sinfo does not answer.
  std::vector<Node> nodes(const std::optional<JobFacts>& facts, UnreadyNodes unready = UnreadyNodes::lost) const;
  /// Returns the number of tasks of a plain job step (SLURM_NTASKS); 0 if it is unknown. Does not block.
  int tasks() const { return tasks_; }
  /// Ends all running job steps of the job, for example after their srun was killed. Each job step gets SIGUSR1, on which a
  /// run saves and stops, and SIGKILL after 20 s. Blocks until all job steps have ended, for up to a minute.
  void end_steps() const;
  /// Requeues the job; returns "" if that succeeded, or the reason why it failed.
  std::string requeue() const;
  /// Returns the reason why a requeue could not replace the nodes in `excluded` by other nodes; "" if it could.
  std::string no_other_nodes(const std::optional<JobFacts>& facts, std::span<const std::string> excluded) const;
  /// Changes the pending job so that Slurm does not allocate certain nodes to it after a requeue: `nodes`, and the nodes
  /// that the job already excluded before the requeue (`before`). Must be called while the job is pending. Returns "" or
  /// the reason why the change failed.
  std::string exclude(std::span<const std::string> nodes, const std::optional<JobFacts>& before) const;

 private:
  std::string id_;
  std::string task_id_;
  int tasks_ = 0;
  int restart_count_ = 0;
  std::vector<Node> allocated_;
};

}  // namespace trainrt::batch
