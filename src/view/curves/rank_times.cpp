#include "view/curves/rank_times.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trainrt::view {

namespace {

/// Returns the quantile `part`, from 0 to 1, of the values that are not NaN. Changes the order of `values`.
float quantile_of(std::vector<float>& values, double part) {
  std::erase_if(values, [](float value) { return std::isnan(value); });
  if (values.empty()) return NAN;
  const auto quantile = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, quantile);
  return *quantile;
}

/// Returns the mean time of each rank over the steps of an interval.
std::vector<float> means_of(Interval interval, std::size_t ranks) {
  std::vector<float> means(ranks, NAN);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    double sum = 0, steps = 0;
    for (const auto& window : interval) {
      if (rank >= window.own_us.size() || std::isnan(window.own_us[rank])) continue;
      sum += window.steps * static_cast<double>(window.own_us[rank]);
      steps += window.steps;
    }
    if (steps > 0) means[rank] = static_cast<float>(sum / steps);
  }
  return means;
}

/// Mean and maximum, over the intervals, of the ratio of a rank's time to the time of the median rank.
struct Slowness {
  std::size_t rank = 0;
  double mean = 0, max = 0;
};

std::vector<Slowness> slowness_of(const std::vector<std::vector<float>>& means, const std::vector<float>& medians,
                                  std::size_t ranks) {
  std::vector<Slowness> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Slowness slowness{.rank = rank};
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < means.size(); ++i) {
      const double ratio = static_cast<double>(means[i][rank] / medians[i]);
      if (!std::isfinite(ratio)) continue;
      sum += ratio;
      ++count;
      slowness.max = std::max(slowness.max, ratio);
    }
    slowness.mean = count > 0 ? sum / count : NAN;
    all.push_back(slowness);
  }
  return all;
}

/// Returns the numbers of the `count` slowest ranks: two thirds of them have the highest mean ratios, the others have
/// the highest maximum ratios.
std::vector<std::size_t> slowest_of(std::vector<Slowness> all, std::size_t count) {
  std::vector<std::size_t> chosen;
  const auto take_slowest = [&](auto field, std::size_t until) {
    std::ranges::stable_sort(all, [&](const auto& a, const auto& b) { return a.*field > b.*field; });
    for (const auto& each : all)
      if (chosen.size() < until && std::ranges::count(chosen, each.rank) == 0) chosen.push_back(each.rank);
  };
  std::erase_if(all, [](const Slowness& each) { return std::isnan(each.mean); });
  take_slowest(&Slowness::mean, count * 2 / 3);
  take_slowest(&Slowness::max, count);
  return chosen;
}

std::vector<RankRow> rows_for(std::size_t ranks, const std::vector<Slowness>& slowness, const RankLimits& limits) {
  std::vector<RankRow> rows;
  if (ranks <= limits.rows) {
    for (std::size_t rank = 0; rank < ranks; ++rank) rows.push_back({.first = rank, .last = rank});
    return rows;
  }
  for (const auto rank : slowest_of(slowness, limits.slowest)) rows.push_back({.first = rank, .last = rank});
  for (std::size_t i = 0; i < limits.groups; ++i)
    rows.push_back({.first = ranks * i / limits.groups, .last = ranks * (i + 1) / limits.groups - 1});
  return rows;
}

void fill_row(RankRow& row, const RankTimes& times, const std::vector<std::vector<float>>& means,
              std::span<const StepWindow> windows, const std::vector<Slowness>& slowness) {
  for (const auto& of_ranks : means) {
    const auto begin = of_ranks.begin() + static_cast<std::ptrdiff_t>(row.first);
    row.own_us.push_back(median_of({begin, begin + static_cast<std::ptrdiff_t>(row.last - row.first + 1)}));
  }
  std::vector<float> values;
  for (const auto& window : windows) {
    for (auto rank = row.first; rank <= row.last && rank < window.own_us.size(); ++rank)
      values.push_back(window.own_us[rank]);
    if (window.slow && window.slow->rank >= row.first && window.slow->rank <= row.last) ++row.slow_windows;
  }
  row.p95_us = static_cast<double>(quantile_of(values, 0.95));
  row.median_us = static_cast<double>(quantile_of(values, 0.5));
  std::vector<float> ratios;
  for (auto rank = row.first; rank <= row.last && rank < times.ranks; ++rank)
    ratios.push_back(static_cast<float>(slowness[rank].mean));
  row.ratio = static_cast<double>(median_of(std::move(ratios)));
}

}  // namespace

float median_of(std::vector<float> values) { return quantile_of(values, 0.5); }

std::vector<Interval> intervals_of(std::span<const StepWindow> windows, std::size_t max_intervals) {
  std::vector<Interval> intervals;
  const auto length = std::max<std::size_t>(1, (windows.size() + max_intervals - 1) / max_intervals);
  for (std::size_t at = 0; at < windows.size();) {
    auto end = at + 1;
    while (end < windows.size() && end - at < length && windows[end].attempt == windows[at].attempt) ++end;
    intervals.push_back(windows.subspan(at, end - at));
    at = end;
  }
  return intervals;
}

RankTimes rank_times_of(std::span<const StepWindow> windows, const RankLimits& limits) {
  RankTimes times;
  times.intervals = intervals_of(windows, limits.intervals);
  for (const auto& window : windows) times.ranks = std::max(times.ranks, window.own_us.size());
  std::vector<std::vector<float>> means;
  for (const auto& interval : times.intervals) {
    means.push_back(means_of(interval, times.ranks));
    times.median_us.push_back(median_of(means.back()));
  }
  const auto slowness = slowness_of(means, times.median_us, times.ranks);
  times.rows = rows_for(times.ranks, slowness, limits);
  for (auto& row : times.rows) fill_row(row, times, means, windows, slowness);
  return times;
}

std::string name_of(const RankRow& row) {
  return row.is_group() ? fmt::format("ranks {} to {}", row.first, row.last) : fmt::format("rank {}", row.first);
}

}  // namespace trainrt::view
