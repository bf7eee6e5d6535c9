#pragma once
#include <string>
#include <thread>

#include "rundir/records/owner.hpp"

namespace trainrt::rundir {

/// Returns whether a live process has claimed the run, so that the run is being started (StartClaim). Writes nothing: the
/// age of a heartbeat is measured by this host's clock. Returns false if the claim cannot be read. `job_is_alive` asks
/// Slurm about the job of the claim.
bool is_being_started(const std::string& run_dir, const JobCheck& job_is_alive = slurm_job_is_alive);

/// The claim of a process, rank 0, on a run that it starts, from the start of its program until the run is open. Meanwhile
/// no other process can start this run. Once the run is open, its Attempt is the owner (attempt.hpp).
///
/// The claim is the file ".starting-NAME" next to the run directory. A thread sets its modification time (mtime) to now
/// every 10 s. A claim of a process that no longer runs, or with invalid content, is replaced. Two processes that replace
/// the same file at the same moment may both succeed; then Attempt refuses one of them.
class StartClaim {
 public:
  /// Claims the run. Throws RunIsOwned if the owner of the run's last attempt, or of another claim, is alive. Throws
  /// StorageError if the claim cannot be written.
  explicit StartClaim(const std::string& run_dir);
  /// Removes the claim, and the folders that the constructor created, if they are empty.
  ~StartClaim();
  StartClaim(const StartClaim&) = delete;
  StartClaim& operator=(const StartClaim&) = delete;

 private:
  std::string storage_path_;
  std::string existing_;  ///< the part of storage_path_ that existed before
  std::string path_;
  std::string text_;  ///< content of the file
  std::jthread heartbeats_;
};

}  // namespace trainrt::rundir
