#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "view/curves/step_windows.hpp"

namespace trainrt::view {

/// Consecutive windows of one attempt that are shown as one point in time.
using Interval = std::span<const StepWindow>;

/// Divides windows into about `max_intervals` intervals with equal numbers of windows, but at least one for each attempt.
/// Pure function.
std::vector<Interval> intervals_of(std::span<const StepWindow> windows, std::size_t max_intervals);

/// The step times of one rank, or of several neighboring ranks.
struct RankRow {
  std::size_t first = 0, last = 0;  ///< ranks
  /// By interval: mean time per step without waiting for other ranks; for several ranks, the median of their means. NaN
  /// if there is no value.
  std::vector<float> own_us;
  double median_us = 0, p95_us = 0;  ///< over all windows: median and 95th percentile
  double ratio = 0;                  ///< mean ratio to the median rank in the same interval
  std::size_t slow_windows = 0;      ///< number of windows in which the rank delayed the others

  bool is_group() const { return last > first; }
};

/// Step times by rank and interval.
struct RankTimes {
  std::vector<Interval> intervals;
  std::vector<float> median_us;  ///< over the ranks, by interval
  std::vector<RankRow> rows;     ///< a row per rank; with many ranks, rows of the slowest and then all ranks in groups
  std::size_t ranks = 0;         ///< maximum over the attempts
};

struct RankLimits {
  std::size_t intervals = 160;
  std::size_t rows = 40;     ///< with more ranks, ranks are grouped
  std::size_t slowest = 12;  ///< number of ranks that have a row of their own then
  std::size_t groups = 28;
};

/// Pure function.
RankTimes rank_times_of(std::span<const StepWindow> windows, const RankLimits& limits = {});

/// Returns "rank 3" or "ranks 16 to 31".
std::string name_of(const RankRow& row);

/// Returns the median without NaN, of two middle values the lower; NaN if there is no value. Pure function.
float median_of(std::vector<float> values);

}  // namespace trainrt::view
