#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "view/curves/step_windows.hpp"

namespace trainrt::view::page {

/// Consecutive windows of one attempt, taken together.
using Stretch = std::span<const StepWindow>;

/// At most about `most` stretches of equal numbers of windows; none reaches over the end of an attempt. Pure.
std::vector<Stretch> stretches_of(std::span<const StepWindow> windows, std::size_t most);

/// A rank, or neighbouring ones taken together.
struct RankRow {
  std::size_t first = 0, last = 0;
  std::vector<float>
      own_us;  ///< in each stretch what it did itself in a step (of several the median); NaN: it was not there
  double median_us = 0, high_us = 0;  ///< over all windows: the median, and what 95 % stay below
  double ratio = 0;                   ///< of its times to the median rank's at the same time: the mean
  std::size_t slow_windows = 0;       ///< in which it held the others up

  bool is_group() const { return last > first; }
};

/// What steps took, by rank and time.
struct RankTimes {
  std::vector<Stretch> stretches;
  std::vector<float> median_us;  ///< of the ranks, in each stretch
  std::vector<RankRow> rows;     ///< all ranks; of many, the slowest by themselves and then all in groups
  std::size_t ranks = 0;         ///< the most that an attempt had
};

struct RankLimits {
  std::size_t stretches = 160;
  std::size_t rows = 40;     ///< with more ranks some are taken together
  std::size_t slowest = 12;  ///< that are shown by themselves all the same
  std::size_t groups = 28;
};

/// Pure.
RankTimes rank_times_of(std::span<const StepWindow> windows, const RankLimits& limits = {});

/// "rank 3", "ranks 16 to 31"
std::string name_of(const RankRow& row);

/// The value in the middle, NaN left out; NaN if there is none. Pure.
float median_of(std::vector<float> values);

}  // namespace trainrt::view::page
