#include "watch/step_times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace trainrt::watch {

namespace {

constexpr double least_ratio = 1.1;
constexpr double least_share = 0.01;    // of a step
constexpr double least_deviations = 5;  // standard errors of a median
/// Of a normal distribution: standard deviation by median distance, and standard error of a median by that of a mean.
constexpr double deviation_by_spread = 1.4826, median_by_mean = 1.2533;

/// The lower one of two: of two ranks the faster one.
float median_of(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

template <class Range, class Field>
float median(const Range& range, Field field) {
  std::vector<float> values;
  values.reserve(range.size());
  for (const auto& each : range) values.push_back(std::invoke(field, each));
  return median_of(values);
}

Work largest_excess(const WindowTimes& slow, std::span<const WindowTimes> ranks) {
  std::array<float, work_count> excess{};
  for (std::size_t work = 0; work < work_count; ++work)
    excess[work] = slow.work[work] - median(ranks, [&](const WindowTimes& rank) { return rank.work[work]; });
  return static_cast<Work>(std::ranges::max_element(excess) - excess.begin());
}

}  // namespace

float StepTime::own() const { return std::accumulate(work.begin(), work.end(), 0.F); }

WindowTimes window_of(std::span<StepTime> steps) {
  WindowTimes window;
  if (steps.empty()) return window;
  for (std::size_t work = 0; work < work_count; ++work)
    window.work[work] = median(steps, [&](const StepTime& step) { return step.work[work]; });
  window.own = median(steps, &StepTime::own);
  window.waits = median(steps, [](const StepTime& step) { return step.waits; });
  window.spread = median(steps, [&](const StepTime& step) { return std::abs(step.own() - window.own); });
  window.steps = static_cast<std::int32_t>(steps.size());
  return window;
}

std::optional<SlowRank> slow_rank_in(std::span<const WindowTimes> ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const auto slow = std::ranges::max_element(ranks, {}, &WindowTimes::own);
  const double middle = median(ranks, &WindowTimes::own);
  const double spread = std::max(slow->spread, median(ranks, &WindowTimes::spread));
  const double error = deviation_by_spread * median_by_mean * spread / std::sqrt(std::max(slow->steps, 1));
  const double excess = slow->own - middle;
  if (middle <= 0 || slow->own < least_ratio * middle || excess < least_deviations * error ||
      excess < least_share * (slow->own + slow->waits))
    return std::nullopt;
  return SlowRank{static_cast<std::size_t>(slow - ranks.begin()), largest_excess(*slow, ranks), slow->own / middle,
                  slow->own, middle};
}

}  // namespace trainrt::watch
