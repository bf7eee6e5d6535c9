#pragma once
#include <functional>
#include <optional>
#include <string>

namespace trainrt::rundir {

/// Who holds a run directory: one attempt's rank 0.
struct Owner {
  std::string job_id;     ///< "" outside Slurm
  int restart_count = 0;  ///< SLURM_RESTART_COUNT
  std::string step_id;
  std::string host;
  std::string pid_scope;  ///< boot and pid namespace in which `pid` means something
  int pid = 0;
  unsigned long long pid_start_time = 0;
};

/// This process as an owner.
Owner this_owner();

/// How the world looks, asked only if it is needed.
struct OwnerFacts {
  std::function<unsigned long long(int pid)> start_time_of;                 ///< 0 = no such process
  std::function<std::optional<bool>(const std::string& job)> job_is_alive;  ///< nullopt = Slurm cannot tell
  double heartbeat_age_s = 0;
};

/// True if `other` can be shown to be alive, so that `me` must not take the run: by its process if both see the same
/// process numbers, by Slurm if it is another job, else by a heartbeat younger than 30 s. A requeue of the same job
/// always takes over, and what is left of the job before a requeue never does.
bool is_alive(const Owner& other, const Owner& me, const OwnerFacts& facts);

/// Asks squeue; nullopt if it cannot be asked.
std::optional<bool> slurm_job_is_alive(const std::string& job_id);

}  // namespace trainrt::rundir
