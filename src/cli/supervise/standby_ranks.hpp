#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "launch/rank_group.hpp"

namespace trainrt::cli {

/// Keeps a standby ready: one process per rank of this node, started while the run trains. The processes of the standby
/// wait until they replace ranks that have died. Not thread-safe.
class StandbyRanks {
 public:
  /// `start` starts the processes; it may throw exceptions. A lost standby is replaced after a pause, which is
  /// `first_pause_s` seconds at first and doubles with each loss.
  explicit StandbyRanks(std::function<std::unique_ptr<launch::RankGroup>()> start, double first_pause_s = 1)
      : start_(std::move(start)), first_pause_s_(first_pause_s) {}

  /// Starts the standby if it does not exist, or replaces it if one of its processes has ended. Must be called about every
  /// 100 ms while a standby is useful. Logs a warning if the processes cannot be started, or if 8 standbys in succession
  /// were lost, and then does not try again.
  void keep();
  /// Returns the standby; nullptr if there is none. The caller lets the processes begin.
  std::unique_ptr<launch::RankGroup> take();

 private:
  void give_up(const std::string& reason);

  std::function<std::unique_ptr<launch::RankGroup>()> start_;
  double first_pause_s_;
  std::unique_ptr<launch::RankGroup> group_;
  int lost_ = 0;           ///< number of standbys in succession whose processes ended before they were needed
  double start_at_s_ = 0;  ///< earliest time of the next start, by monotonic_seconds()
};

}  // namespace trainrt::cli
