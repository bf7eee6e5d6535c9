#pragma once
#include <functional>
#include <memory>
#include <string>

#include "trainer/watching/rank_usage.hpp"
#include "watch/liveness.hpp"

namespace trainrt::trainer {

/// Writes the status and resource usage of a rank to its line of logs/ranks-attempt-000003.jsonl
/// (rundir/records/rank_status.hpp), at intervals and at the end of the attempt, on a thread of its own. Ranks do not
/// communicate for this.
///
/// If the storage fails, rank 0 logs one warning, and the thread tries again later. If the storage does not respond, only
/// this thread blocks; the destructor then abandons it. An attempt that a newer attempt has fenced off writes nothing.
class StatusWriter {
 public:
  struct Target {
    std::string path;  ///< of the file
    std::string host;
    int rank = 0;
    int ranks = 1;
    bool is_first_of_node = false;
    double started_s = 0;                  ///< start of the attempt, by monotonic_seconds()
    std::function<bool()> is_fenced = {};  ///< called before each write on the thread, which may outlive the attempt
  };
  struct Times {
    double first_s = 1;  ///< until the first write
    double sample_interval_s = 10;
    double write_interval_s = 10;
    double max_wait_s = 2;  ///< how long the destructor waits for the last write
  };
  /// Returns intervals with which all ranks together write at most 50 times per second.
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
