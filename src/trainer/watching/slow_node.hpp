#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "watch/step_times.hpp"

namespace trainrt::trainer {

/// A node to exclude from the run, because one of its ranks slows the other ranks down.
struct SlowNode {
  std::string node;  ///< name of the node
  std::string why;   ///< "rank 3 (n2) was 1.62 times as slow as the median in forward for 1200 steps"
};

/// Decides when a rank is so slow that the run continues without its node (config key failure.exclude_slow): the same rank
/// is the slowest in all windows of steps for Limits::after_s seconds, and takes at least Limits::ratio times as long as
/// the median rank. If no node can be excluded, logs one warning instead. Must be used by the train thread.
class SlowNodeWatch {
 public:
  struct Limits {
    double ratio = 0;    ///< minimum ratio of the rank's own time per step to the median rank's; 0: never exclude a node
    double after_s = 0;  ///< minimum duration, seconds
  };
  /// `hosts`: node name of each rank. `refusal`: reason why no node can be excluded; "" if one can.
  SlowNodeWatch(const Limits& limits, std::vector<std::string> hosts, std::string refusal);

  /// Adds a window of `steps` steps that took `seconds`. `slow` is the slow rank of the window, if there is one. If all
  /// ranks pass the same values, they find the same node.
  void add_window(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds);
  /// Returns the node to exclude, or nullptr. A rank that finds a node requests a stop of the run.
  const SlowNode* found() const { return found_ ? &*found_ : nullptr; }

 private:
  void conclude(const watch::SlowRank& slow);

  Limits limits_;
  std::vector<std::string> hosts_;
  std::string refusal_;
  std::optional<std::size_t> rank_;  ///< the rank that was slow in the last windows; the next three members are of these
  std::int64_t steps_ = 0;           ///< total number of steps
  double seconds_ = 0;               ///< total duration
  double min_ratio_ = 0;
  bool has_warned_ = false;  ///< that no node can be excluded
  std::optional<SlowNode> found_;
};

/// Returns the reason why no node of this run can be excluded, from the environment variable TRAINRT_EXCLUSION that
/// `trainrt supervise` sets; "" if a node can be excluded.
std::string refusal_to_exclude();

}  // namespace trainrt::trainer
