#pragma once
#include <functional>
#include <memory>

#include "launch/rank_group.hpp"

namespace trainrt::cli {

/// Keeps a standby of the ranks of this node: processes that are started while the run trains, and wait until they replace
/// ranks that have died. Not thread-safe.
class StandbyRanks {
 public:
  /// `start` starts the processes; it may throw Error.
  explicit StandbyRanks(std::function<std::unique_ptr<launch::RankGroup>()> start) : start_(std::move(start)) {}

  /// Starts the standby if it does not exist, or replaces it if one of its processes has ended. Must be called about every
  /// 100 ms while a standby is useful. Logs a warning if the processes cannot be started, and then does not try again.
  void keep();
  /// Returns the standby; nullptr if there is none. The caller lets the processes begin.
  std::unique_ptr<launch::RankGroup> take();

 private:
  std::function<std::unique_ptr<launch::RankGroup>()> start_;
  std::unique_ptr<launch::RankGroup> group_;
  int lost_ = 0;           ///< number of standbys whose processes have ended before they were needed
  double start_at_s_ = 0;  ///< earliest time of the next start, by monotonic_seconds()
};

}  // namespace trainrt::cli
