#pragma once
#include <functional>
#include <memory>
#include <string>

#include "trainer/watching/rank_usage.hpp"
#include "watch/liveness.hpp"

namespace trainrt::trainer {

/// Writes the status and the resource usage of a rank to a file such as logs/ranks-attempt-000003.jsonl, in which each rank
/// has one line (rundir/records/rank_status.hpp). A StatusWriter owns a thread that writes at intervals and at the end of
/// the attempt. Ranks do not communicate.
///
/// If a write fails, rank 0 logs one warning, and the thread tries again later. If the storage does not respond, only the
/// thread blocks, and the destructor stops waiting for the thread. If a newer attempt has taken over the run, nothing is
/// written.
class StatusWriter {
 public:
  struct Target {
    std::string path;  ///< path of the file to write
    std::string host;
    int rank = 0;
    int ranks = 1;
    bool is_first_of_node = false;
    double started_s = 0;  ///< start of the attempt, by monotonic_seconds()
    std::function<bool()> is_fenced =
        {};  ///< called on the writing thread before each write; the thread may outlive the attempt
  };
  struct Times {
    double first_s = 1;  ///< time until the first write, seconds
    double sample_interval_s = 10;
    double write_interval_s = 10;
    double max_wait_s = 2;  ///< maximum time for which the destructor waits for the last write, seconds
  };
  /// Returns intervals such that all ranks together write at most 50 times per second.
  static Times times_of(const Target& target);

  /// Must be constructed on the train thread. `life` must outlive this object.
  StatusWriter(Target target, const watch::Liveness& life) : StatusWriter(target, life, times_of(target)) {}
  StatusWriter(Target target, const watch::Liveness& life, Times times);
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  double max_wait_s_;
};

}  // namespace trainrt::trainer
