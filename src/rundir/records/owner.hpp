#pragma once
#include <functional>
#include <optional>
#include <string>

namespace trainrt::rundir {

/// The process that owns a run directory: rank 0 of an attempt.
struct Owner {
  std::string job_id;     ///< "" outside Slurm
  int restart_count = 0;  ///< SLURM_RESTART_COUNT
  std::string step_id;
  std::string host;
  std::string pid_scope;  ///< boot and PID namespace in which `pid` is valid
  int pid = 0;
  unsigned long long pid_start_time = 0;
};

/// Returns this process as an owner.
Owner this_owner();

/// Sources of facts about an owner; the functions are called only if needed.
struct OwnerFacts {
  std::function<unsigned long long(int pid)> start_time_of;                 ///< returns 0 if the process does not exist
  std::function<std::optional<bool>(const std::string& job)> job_is_alive;  ///< returns nothing if Slurm does not know
  double heartbeat_age_s = 0;                                               ///< seconds since the last heartbeat
};

/// Returns whether `other` is alive, so that `me` must not take over its run.
///
/// This is determined by the process, if both owners have the same PID namespace and host; by Slurm, if `other` is another
/// job; otherwise by a heartbeat that is younger than 30 s. Within one job, a later requeue always takes over from an
/// earlier one.
bool is_alive(const Owner& other, const Owner& me, const OwnerFacts& facts);

/// Returns whether a Slurm job is alive, according to squeue; nothing if squeue gives no clear answer.
std::optional<bool> slurm_job_is_alive(const std::string& job_id);

}  // namespace trainrt::rundir
