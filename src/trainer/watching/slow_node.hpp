#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "watch/step_times.hpp"

namespace trainrt::trainer {

/// A node to exclude from the run, since a rank on this node slows the other ranks down.
struct SlowNode {
  std::string node;  ///< name of the node
  std::string why;   ///< reason: "rank 3 (n2) was 1.62 times as slow as the median in forward for 1200 steps"
};

/// Decides when a rank is so slow that the run must continue without the rank's node (config key failure.exclude_slow).
/// That is the case if the same rank takes at least Limits::ratio times as long as the median rank in all windows of steps
/// for Limits::after_s seconds. If the node cannot be excluded, logs one warning instead. Must be used by the train thread.
class SlowNodeWatch {
 public:
  struct Limits {
    double ratio = 0;    ///< minimum ratio of the rank's own time per step to the median rank's; 0: never exclude a node
    double after_s = 0;  ///< minimum duration of the slowness, seconds
  };
  /// `hosts` has the node name of each rank. `refusal` is the reason why no node can be excluded; "" if nodes can be
  /// excluded.
  SlowNodeWatch(const Limits& limits, std::vector<std::string> hosts, std::string refusal);

  /// Adds a window of `steps` steps, which took `seconds` seconds. `slow` is the rank that was slow in this window;
  /// nullopt if no rank was slow. All ranks must pass the same arguments, so that all of them find the same node.
  void add_window(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds);
  /// Returns the node to exclude, or nullptr. If the result is not nullptr, the caller requests a stop of the run.
  const SlowNode* found() const { return found_ ? &*found_ : nullptr; }

 private:
  void conclude(const watch::SlowRank& slow);

  Limits limits_;
  std::vector<std::string> hosts_;
  std::string refusal_;
  std::optional<std::size_t> rank_;  ///< rank that was slow in the last windows
  std::int64_t steps_ = 0;           ///< number of steps in these windows
  double seconds_ = 0;               ///< duration of these windows, seconds
  double min_ratio_ = 0;
  bool has_warned_ = false;  ///< whether the warning that no node can be excluded was logged
  std::optional<SlowNode> found_;
};

/// Returns the reason why no node of this run can be excluded; "" if nodes can be excluded. `trainrt supervise` sets the
/// environment variable TRAINRT_EXCLUSION to this reason.
std::string refusal_to_exclude();

}  // namespace trainrt::trainer
