#pragma once
#include <optional>
#include <string>

#include "batch/restart_decision.hpp"
#include "config/run_spec.hpp"
#include "rundir/records/attempt_record.hpp"
#include "rundir/records/run_state.hpp"

namespace trainrt::cli {

/// The run for which a supervising process starts ranks. It is the run of the config, or the run that the program has
/// opened instead (rundir/storage/opened_run.hpp). This class reads and completes the records in the directory of that
/// run. Only one thread may use it.
class SupervisedRun {
 public:
  explicit SupervisedRun(config::RunSpec config);

  const config::RunSpec& config() const { return config_; }
  /// Returns the specification of the supervised run: the config. If the program has opened another run, the directory,
  /// the name and the limits in it are replaced by those of the opened run.
  const config::RunSpec& spec() const { return spec_; }

  /// Must be called before ranks are started. Passes the number of `failures` so far to them in TRAINRT_FAILURES.
  void begin_start(int failures);
  /// Must be called after the started ranks have ended. Reads which run their program has opened.
  void end_start();

  /// Returns the attempt that the last started ranks began; nullopt if they ended before they began one.
  std::optional<rundir::AttemptRecord> begun_attempt() const;
  /// Returns whether the newest attempt is still running, although the ranks of this object have ended. Such an attempt
  /// belongs to another start of the run, and its records must not be changed. Must be called on the node of rank 0.
  bool is_of_other_start() const;
  /// Returns how many times the ranks of the last start failed and restarted in the same processes.
  int restarts_by_ranks() const;
  /// Returns whether the last attempt reported no progress (rundir::last_attempt_was_silent()).
  bool is_silent() const;
  /// Returns whether the run has a checkpoint.
  bool has_checkpoint() const;
  /// Returns whether the last attempt recorded that every restart would fail in the same way; false if the ranks began
  /// no attempt.
  bool is_permanent() const;
  /// Returns rundir::repeated_mistake() of the last two attempts, if the ranks have not reported it themselves; or "".
  std::string repeated_mistake() const;
  /// Returns the option with which another job continues the run, or "" (batch::Situation::again_with).
  std::string again_with() const;
  /// Returns the number of ranks with which every attempt of a run with scaling.on_resize = same_bits must be started,
  /// on any number of CPUs. It is the value of scaling.num_workers, or else the number of workers of the earlier
  /// attempts. Returns 0 for other runs, and before the first attempt. If same_bits is only the default, returns 0 also
  /// - for a run on GPUs, and in a heterogeneous job
  /// - if TRAINRT_SRUN_ARGS sets the number of tasks, or scaling.num_workers contradicts the earlier attempts
  /// - for a run without a checkpoint, unless its newest attempt belongs to the Slurm job `job_id`
  int fixed_workers(const std::string& job_id) const;
  /// Returns how many ranks fit into the memory of a node like this one, computed from the memory that the ranks of
  /// earlier attempts used. Returns 0 unless the run has scaling.on_resize = same_bits, and if the memory of its ranks
  /// is unknown.
  int max_workers_per_node() const;
  /// Returns whether the run has finished according to run.json; false if it cannot be read.
  bool has_finished() const;

  /// Records in the last attempt that a restart will begin the next attempt in `decision.wait_s` seconds. `failures`:
  /// number of failures so far; recorded only if `max_failures` limits this restart.
  void announce_restart(const batch::RestartDecision& decision, int failures) const;
  /// Records in the last attempt that the next attempt starts when Slurm starts the requeued job.
  void announce_requeue() const;
  /// Removes the announcement of a restart that does not take place.
  void retract_restart() const;

  /// Writes the state of the run into run.json, if run.json still contains "running" because the ranks were killed.
  /// Writes nothing if the newest attempt is still running. Logs a warning if the write fails.
  void record_end(rundir::RunState state) const;

 private:
  int newest_number() const;
  int ranks_in_job(const std::string& job_id) const;

  config::RunSpec config_;
  config::RunSpec spec_;
  int number_before_ = 0;  ///< number of the newest attempt before the last start
};

}  // namespace trainrt::cli
