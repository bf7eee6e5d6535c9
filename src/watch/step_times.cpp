#include "watch/step_times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "core/text/text.hpp"

namespace trainrt::watch {

namespace {

constexpr double min_ratio = 1.1;
// minimum delay by a slow rank: as a share of the mean time from one step to the next, and in seconds per step
constexpr double min_share = 0.02, min_excess_s = 0.0005;
// minimum delay by a slow rank, as a number of standard errors of the median step time
constexpr double min_deviations = 5;
/// Two ratios for normally distributed times: the standard deviation divided by the median absolute deviation, and the
/// standard error of a median divided by that of a mean.
constexpr double deviation_by_spread = 1.4826, median_by_mean = 1.2533;
constexpr std::size_t min_rare = 3;  // minimum number of measured reports or saves from which a median is computed

/// Returns the median; of two middle values, the lower one. For two ranks this is the time of the faster rank.
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

Work work_of_max_excess(const WindowTimes& slow, std::span<const WindowTimes> ranks) {
  const auto excess = [&](Work work) {
    return slow.of(work) - median(ranks, [&](const WindowTimes& rank) { return rank.of(work); });
  };
  return std::ranges::max({Work::input, Work::forward, Work::backward, Work::save}, {}, excess);
}

/// Returns a printable form of a process name, which may contain any bytes and ends at the first null byte.
std::string name_in(std::span<const char> room) {
  const auto lines = printable_lines(std::string(room.begin(), std::ranges::find(room, '\0')));
  return lines.empty() ? "" : lines.front();
}

}  // namespace

std::string reasons_in(const NodeFacts& facts) {
  std::string text;
  if (facts.clock_ghz > 0 && facts.clock_ghz < 0.9F * facts.full_clock_ghz)
    text += fmt::format("; clock {:.1f} GHz of {:.1f}", facts.clock_ghz, facts.full_clock_ghz);
  if (facts.throttled > 0)
    text += facts.celsius > 0 ? fmt::format("; its CPU is throttled, at {:.0f} degrees Celsius", facts.celsius)
                              : "; its CPU is throttled";
  if (facts.stolen >= 0.05F)
    text += fmt::format("; the hypervisor took {:.0f} % of the node's CPU time", 100 * facts.stolen);
  if (facts.other_share >= 0.05F)
    text +=
        fmt::format("; the process '{}' took {:.0f} % of the rank's CPU", name_in(facts.other), 100 * facts.other_share);
  else if (facts.preempted >= 20)
    text += fmt::format("; other processes interrupted the rank {:.0f} times per second", facts.preempted);
  if (facts.swapped >= 10) text += fmt::format("; the node reads {:.0f} pages per second from its swap", facts.swapped);
  if (facts.major_faults >= 5)
    text += fmt::format("; {:.0f} pages per second were read from disk (major page faults)", facts.major_faults);
  if (facts.remote_memory >= 0.2F)
    text += fmt::format("; {:.0f} % of the rank's memory is on another NUMA node", 100 * facts.remote_memory);
  return text;
}

void WindowMaker::take(Rare& rare, std::span<const StepTime> steps, Work work) {
  for (const auto& step : steps)
    if (step.of(work) > 0) rare.seconds.push_back(step.of(work));
  rare.steps += steps.size();
  if (rare.seconds.size() < min_rare) return;
  const auto number = static_cast<float>(rare.seconds.size());
  rare.share = median_of(rare.seconds) * number / static_cast<float>(rare.steps);
  rare.seconds.clear();
  rare.steps = 0;
}

WindowTimes WindowMaker::window_of(std::span<StepTime> steps) {
  WindowTimes window;
  if (steps.empty()) return window;
  take(reports_, steps, Work::report);
  take(saves_, steps, Work::save);
  const auto at = [&](Work work) -> float& { return window.work[static_cast<std::size_t>(work)]; };
  for (const auto work : {Work::input, Work::forward, Work::backward})
    at(work) = median(steps, [&](const StepTime& step) { return step.of(work); });
  at(Work::report) = reports_.share;
  at(Work::save) = saves_.share;
  const auto steady = median(steps, &StepTime::steady);
  window.own = steady + saves_.share;
  window.waits = median(steps, [](const StepTime& step) { return step.waits; });
  for (const auto& step : steps) window.mean += step.total() / static_cast<float>(steps.size());
  window.spread = median(steps, [&](const StepTime& step) { return std::abs(step.steady() - steady); });
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
  if (middle <= 0 || slow->own < min_ratio * middle || excess < min_deviations * error ||
      excess < std::max(min_share * std::max(slow->own + slow->waits, slow->mean), min_excess_s))
    return std::nullopt;
  const auto work = work_of_max_excess(*slow, ranks);
  if (work == Work::save && slow == ranks.begin()) return std::nullopt;  // rank 0 commits the checkpoints of all ranks
  return SlowRank{static_cast<std::size_t>(slow - ranks.begin()), work, slow->own / middle, slow->own, middle};
}

}  // namespace trainrt::watch
