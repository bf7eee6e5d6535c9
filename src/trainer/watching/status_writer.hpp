#pragma once
#include <functional>
#include <memory>
#include <string>

#include "trainer/watching/rank_usage.hpp"
#include "watch/liveness.hpp"

namespace trainrt::trainer {

/// Writes down what a rank is at and has used, from time to time and at the end of the attempt, in a thread of its own: its
/// line of logs/ranks-attempt-000003.jsonl (rundir/records/rank_status.hpp). Ranks do not ask each other. Storage that
/// fails, is full or away is warned of once, by rank 0, and tried again; storage that does not answer holds the thread
/// alone, which is then left behind. An attempt that is fenced off writes no more.
class StatusWriter {
 public:
  struct Place {
    std::string path;
    std::string host;
    int rank = 0;
    int ranks = 1;
    bool is_first_of_node = false;
    double started_s = 0;                  ///< when the attempt began, by monotonic_seconds()
    std::function<bool()> is_fenced = {};  ///< asked by the thread before it writes; it may outlive the attempt
  };
  struct Times {
    double first_s = 1;
    double between_looks_s = 10;
    double between_writes_s = 10;
    double most_wait_s = 2;  ///< for the last one
  };
  /// More ranks write less often: 50 a second at most, of all.
  static Times times_of(const Place& place);

  /// On the train thread. `life` must outlive it.
  StatusWriter(Place place, const watch::Liveness& life) : StatusWriter(place, life, times_of(place)) {}
  StatusWriter(Place place, const watch::Liveness& life, Times times);
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  double most_wait_s_;
};

}  // namespace trainrt::trainer
