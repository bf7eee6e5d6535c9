#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "watch/step_times.hpp"

namespace trainrt::trainer {

/// A run that stops so that it can go on without the node of a rank that holds the others up.
struct SlowNode {
  std::string node;
  std::string why;  ///< "rank 3 (n2) was 1.62 times as slow as the median in forward for 1200 steps"
};

/// Decides when a rank has been too slow for too long (failure.exclude_slow): in every window of steps for so long the same
/// rank was the slowest, and took so many times the median rank's time. If nobody is there to leave its node out, it says
/// so once, and the run goes on. Only the train thread uses it.
class SlowNodeWatch {
 public:
  struct Limits {
    double ratio = 0;    ///< own time by that of the median rank; 0: off
    double after_s = 0;  ///< so long
  };
  /// `hosts`: the node of each rank. `refusal`: why no node can be left out; "" if one can.
  SlowNodeWatch(const Limits& limits, std::vector<std::string> hosts, std::string refusal);

  /// After each window of `steps` steps: the rank that was found to be slow, if one was, and how long the window took. If
  /// all ranks are told the same, all find the same.
  void take_window(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds);
  /// What this rank asks the others to stop for; nullptr if it does not.
  const SlowNode* found() const { return found_ ? &*found_ : nullptr; }

 private:
  void conclude(const watch::SlowRank& slow);

  Limits limits_;
  std::vector<std::string> hosts_;
  std::string refusal_;
  std::optional<std::size_t> rank_;  ///< that is too slow in the windows up to now
  std::int64_t steps_ = 0;           ///< of these windows
  double seconds_ = 0;               ///< likewise
  double least_ratio_ = 0;           ///< in them
  bool refused_ = false;             ///< and that was said
  std::optional<SlowNode> found_;
};

/// Why no node of this run can be left out, as whoever has started the ranks has told (TRAINRT_EXCLUSION); "" if one can.
std::string refusal_to_exclude();

}  // namespace trainrt::trainer
