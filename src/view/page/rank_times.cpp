#include "view/page/rank_times.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trainrt::view::page {

namespace {

/// The value that so much of them lies below.
float quantile_of(std::vector<float>& values, double part) {
  std::erase_if(values, [](float value) { return std::isnan(value); });
  if (values.empty()) return NAN;
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, place);
  return *place;
}

/// Of each rank: the mean over the steps of the stretch.
std::vector<float> means_of(Stretch stretch, std::size_t ranks) {
  std::vector<float> means(ranks, NAN);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    double sum = 0, steps = 0;
    for (const auto& window : stretch) {
      if (rank >= window.own_us.size() || std::isnan(window.own_us[rank])) continue;
      sum += window.steps * static_cast<double>(window.own_us[rank]);
      steps += window.steps;
    }
    if (steps > 0) means[rank] = static_cast<float>(sum / steps);
  }
  return means;
}

/// How slow a rank was beside the others: on the mean, and at its worst.
struct Slowness {
  std::size_t rank = 0;
  double mean = 0, worst = 0;
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
      slowness.worst = std::max(slowness.worst, ratio);
    }
    slowness.mean = count > 0 ? sum / count : NAN;
    all.push_back(slowness);
  }
  return all;
}

/// Two thirds of them are the slowest on the mean, the others those with the slowest stretch.
std::vector<std::size_t> slowest_of(std::vector<Slowness> all, std::size_t count) {
  std::vector<std::size_t> chosen;
  const auto take = [&](auto field, std::size_t until) {
    std::ranges::stable_sort(all, [&](const auto& a, const auto& b) { return a.*field > b.*field; });
    for (const auto& each : all)
      if (chosen.size() < until && std::ranges::count(chosen, each.rank) == 0) chosen.push_back(each.rank);
  };
  std::erase_if(all, [](const Slowness& each) { return std::isnan(each.mean); });
  take(&Slowness::mean, count * 2 / 3);
  take(&Slowness::worst, count);
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
  for (const auto& stretch : means) {
    const auto begin = stretch.begin() + static_cast<std::ptrdiff_t>(row.first);
    row.own_us.push_back(median_of({begin, begin + static_cast<std::ptrdiff_t>(row.last - row.first + 1)}));
  }
  std::vector<float> values;
  for (const auto& window : windows) {
    for (auto rank = row.first; rank <= row.last && rank < window.own_us.size(); ++rank)
      values.push_back(window.own_us[rank]);
    if (window.slow && window.slow->rank >= row.first && window.slow->rank <= row.last) ++row.slow_windows;
  }
  row.high_us = static_cast<double>(quantile_of(values, 0.95));
  row.median_us = static_cast<double>(quantile_of(values, 0.5));
  std::vector<float> ratios;
  for (auto rank = row.first; rank <= row.last && rank < times.ranks; ++rank)
    ratios.push_back(static_cast<float>(slowness[rank].mean));
  row.ratio = static_cast<double>(median_of(std::move(ratios)));
}

}  // namespace

float median_of(std::vector<float> values) { return quantile_of(values, 0.5); }

std::vector<Stretch> stretches_of(std::span<const StepWindow> windows, std::size_t most) {
  std::vector<Stretch> stretches;
  const auto length = std::max<std::size_t>(1, (windows.size() + most - 1) / most);
  for (std::size_t at = 0; at < windows.size();) {
    auto end = at + 1;
    while (end < windows.size() && end - at < length && windows[end].attempt == windows[at].attempt) ++end;
    stretches.push_back(windows.subspan(at, end - at));
    at = end;
  }
  return stretches;
}

RankTimes rank_times_of(std::span<const StepWindow> windows, const RankLimits& limits) {
  RankTimes times;
  times.stretches = stretches_of(windows, limits.stretches);
  for (const auto& window : windows) times.ranks = std::max(times.ranks, window.own_us.size());
  std::vector<std::vector<float>> means;
  for (const auto& stretch : times.stretches) {
    means.push_back(means_of(stretch, times.ranks));
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

}  // namespace trainrt::view::page
