#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "batch/verdict.hpp"
#include "core/environment.hpp"

namespace trainrt::batch {

/// What `scontrol show job -o` tells of one job.
struct JobFacts {
  std::string state;   ///< "RUNNING"
  std::string reason;  ///< "None", "TimeLimit"
  int restarts = 0;    ///< counted up as soon as Slurm decides to requeue
  std::string nodes;   ///< "n[1,3]": of the allocation now; nodes that failed have left it (sbatch --no-kill)
  int node_count = 0;
  int tasks = 0;
  std::string partition;       ///< or several, "main,high"
  std::string wanted_nodes;    ///< that it asked for by name; "" = any
  std::string excluded_nodes;  ///< that it is not to get
  bool may_requeue = true;
};

/// nullopt if it is no such line. Pure.
std::optional<JobFacts> parse_job(std::string_view text);

/// Which job a number of people names, and where it works.
struct JobPlace {
  std::string id;        ///< as SLURM_JOB_ID has it: a task of an array has one of its own
  std::string work_dir;  ///< "" if Slurm cannot tell
};
/// From `scontrol show job`; nullopt if it tells of no job. Pure.
std::optional<JobPlace> parse_job_place(std::string_view text);
/// Asks Slurm for "4711" or "4711_3", waiting 20 s at most; what it cannot tell (a job that ended a while ago) is left as
/// it was. UsageError if that is no number of a job.
JobPlace place_of_job(const std::string& job);

/// By name, whether a step can run there, from `sinfo --Node --format="%N %T"`. Pure.
std::map<std::string, bool> parse_node_states(std::string_view text);

/// "2(x3),1" of SLURM_TASKS_PER_NODE as 2, 2, 2, 1; none if it is malformed. Pure.
std::vector<int> parse_tasks_per_node(std::string_view text);

/// "12.0" and "12.3" of `squeue --steps --format=%i`: those that srun started, not "12.batch" and "12.extern". Pure.
std::vector<std::string> parse_steps(std::string_view text);

/// What is seen of how the job ends.
struct EndingFacts {
  int signal = 0;               ///< stop signal at supervise, 0 if none came
  std::string due_to;           ///< StepLines::due_to()
  std::optional<JobFacts> job;  ///< nullopt if Slurm could not be asked
  int restart_count = 0;        ///< SLURM_RESTART_COUNT
};
/// Who ends the job. The state alone does not tell (it is COMPLETING for every cause): Restarts above SLURM_RESTART_COUNT
/// says that the job returns, the reason or slurmstepd's words say that its time is over. Pure.
Ending ending_of(const EndingFacts& facts);

/// True if `scontrol requeue` did it, or found that it was done already. Pure.
bool requeue_succeeded(int exit_code, std::string_view text);

/// The job that this process runs in. Its questions cost an RPC each, and wait 20 s at most.
class SlurmJob {
 public:
  /// nullopt outside a Slurm job.
  static std::optional<SlurmJob> of(const Environment& environment);

  const std::string& id() const { return id_; }            ///< SLURM_JOB_ID
  const std::string& task_id() const { return task_id_; }  ///< "8_3" for a task of an array: never the array
  int restart_count() const { return restart_count_; }

  std::optional<JobFacts> show() const;
  /// The nodes of the allocation as it was given. Without those that `sinfo` and `facts` know to be usable all count as
  /// healthy if nobody can be asked.
  std::vector<Node> nodes(const std::optional<JobFacts>& facts) const;
  /// Ends what still runs of the job's steps, as if their srun was killed: asked to stop and save first, then killed.
  /// Returns when none is left, or after a minute.
  void end_steps() const;
  /// "" if the job is requeued, else why not.
  std::string requeue() const;
  /// Why a requeue would not bring other nodes in place of `excluded`; "" if it would, as far as Slurm can be asked.
  std::string no_other_nodes(const std::optional<JobFacts>& facts, std::span<const std::string> excluded) const;
  /// Once the job is requeued, and as long as it is pending: it gets none of these nodes again, nor those that it was not
  /// to get `before`. "" if that is done, else why not.
  std::string exclude(std::span<const std::string> nodes, const std::optional<JobFacts>& before) const;

 private:
  std::string id_;
  std::string task_id_;
  int restart_count_ = 0;
  std::vector<Node> given_;
};

}  // namespace trainrt::batch
