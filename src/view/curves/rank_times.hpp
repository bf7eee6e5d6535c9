#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "view/curves/step_windows.hpp"

namespace trainrt::view {

/// Consecutive windows of steps of one attempt. A chart shows an interval as one point in time.
using Interval = std::span<const StepWindow>;

/// Divides the windows into about `max_intervals` intervals with equal numbers of windows. Each attempt has at least
/// one interval. Pure function.
std::vector<Interval> intervals_of(std::span<const StepWindow> windows, std::size_t max_intervals);

/// The step times of one rank, or of several neighboring ranks.
struct RankRow {
  std::size_t first = 0, last = 0;  ///< first and last rank of the row
  /// Mean time per step by interval, without waiting for other ranks. In a row of several ranks, it is the median of
  /// their means. NaN if there is no value.
  std::vector<float> own_us;
  double median_us = 0, p95_us = 0;  ///< over all windows: median and 95th percentile
  double ratio = 0;                  ///< mean over the intervals of the ratio to the median rank
  std::size_t slow_windows = 0;      ///< number of windows in which the rank delayed the other ranks

  bool is_group() const { return last > first; }
};

/// Step times by rank and interval.
struct RankTimes {
  std::vector<Interval> intervals;
  std::vector<float> median_us;  ///< by interval: median time of the ranks
  /// A row per rank. If there are many ranks: a row for each of the slowest ranks, then rows for groups of all ranks.
  std::vector<RankRow> rows;
  std::size_t ranks = 0;  ///< maximum number of ranks in an attempt
};

struct RankLimits {
  std::size_t intervals = 160;
  std::size_t rows = 40;     ///< maximum number of ranks with a row each; more ranks are shown in groups
  std::size_t slowest = 12;  ///< number of slow ranks with a row of their own beside the groups
  std::size_t groups = 28;
};

/// Returns the step times of all ranks by interval. Pure function.
RankTimes rank_times_of(std::span<const StepWindow> windows, const RankLimits& limits = {});

/// Returns "rank 3" or "ranks 16 to 31".
std::string name_of(const RankRow& row);

/// Returns the median of the values that are not NaN; of two middle values, the lower one. Returns NaN if there is no
/// value. Pure function.
float median_of(std::vector<float> values);

}  // namespace trainrt::view
