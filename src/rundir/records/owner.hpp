#pragma once
#include <functional>
#include <optional>
#include <string>

namespace trainrt::rundir {

/// The process that owns a run directory, so that no other process may write into it: rank 0 of an attempt.
struct Owner {
  std::string job_id;     ///< number of the Slurm job; "" outside Slurm
  int restart_count = 0;  ///< number of requeues of the job (SLURM_RESTART_COUNT)
  std::string step_id;
  std::string host;
  std::string pid_scope;  ///< identifier of the boot and PID namespace in which `pid` is valid
  int pid = 0;
  unsigned long long pid_start_time = 0;
};

/// Returns the Slurm job, host and process number of this process, as the owner of a run directory.
Owner this_owner();

/// Returns whether a Slurm job is alive; nothing if Slurm does not know.
using JobCheck = std::function<std::optional<bool>(const std::string& job)>;

/// The sources of information with which is_alive() decides whether an owner is alive. The functions are called only if
/// needed.
struct OwnerFacts {
  /// returns the start time of a process on this host; 0 if the process does not exist
  std::function<unsigned long long(int pid)> start_time_of;
  JobCheck job_is_alive;
  std::function<double()> heartbeat_age_s;  ///< returns the number of seconds since the owner's last heartbeat
};

/// Returns whether the owner `other` is alive, so that the process `me` must not take over its run. The first rule that
/// applies decides:
/// - Both are of the same Slurm job, with different restart counts: `other` is alive if its restart count is higher.
/// - Both have the same host and PID namespace: `other` is alive if its process exists.
/// - `other` belongs to another Slurm job, and Slurm knows the state of that job: `other` is alive if the job is.
/// - Otherwise `other` is alive if its last heartbeat is less than 30 s old.
bool is_alive(const Owner& other, const Owner& me, const OwnerFacts& facts);

/// Returns whether a Slurm job is alive, according to the command squeue; nothing if squeue fails or its answer is unclear.
std::optional<bool> slurm_job_is_alive(const std::string& job_id);

/// Returns a JobCheck that calls `check`, and reuses its answer about a job for `seconds` seconds. Not thread-safe.
JobCheck reusing_answers(JobCheck check, double seconds);

}  // namespace trainrt::rundir
