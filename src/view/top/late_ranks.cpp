#include "view/top/late_ranks.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/text/text.hpp"

namespace trainrt::view {

namespace {

constexpr double silent_after_s = 30, missed_after_s = 15;
constexpr double quiet_after_s = 2;
double age_s(const rundir::RankStatus& rank, const std::string& now) {
  return std::max(0.0, seconds_between(rank.time, now));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Values over all ranks, with which each rank is compared.
struct Common {
  double age_s = 0;
  std::int64_t step = 0;  ///< maximum over the ranks
  bool most_wait = false;
};

Common common_of(std::span<const std::optional<rundir::RankStatus>> ranks, const std::string& now) {
  Common common;
  std::vector<double> ages;
  std::size_t waiting_ranks = 0;
  for (const auto& rank : ranks) {
    if (!rank || rank->ended) continue;
    ages.push_back(age_s(*rank, now));
    common.step = std::max(common.step, rank->step);
    if (!rank->waits_in.empty() && rank->quiet_s >= quiet_after_s) ++waiting_ranks;
  }
  common.age_s = median_of(ages);
  common.most_wait = 2 * waiting_ranks >= ages.size() && waiting_ranks > 0;
  return common;
}

std::string progress_text(const rundir::RankStatus& rank, const Common& common) {
  const auto behind = common.step - rank.step;
  const auto step = common.step > 0 ? fmt::format(" at step {}", rank.step) : std::string();
  return fmt::format("in {}{}{}", rank.phase, step, behind > 0 ? ", " + counted(behind, "step") + " behind" : "");
}

std::string why_late(const rundir::RankStatus& rank, const Common& common, const std::string& now) {
  if (rank.ended) return {};
  const auto age = age_s(rank, now);
  if (age >= std::max(common.most_wait ? missed_after_s : silent_after_s, 3 * common.age_s))
    return fmt::format("no status update for {}: it was last {}", clock_text(age), progress_text(rank, common));
  const bool is_waited_for = common.most_wait && rank.waits_in.empty() && rank.phase != "checkpoint";
  return is_waited_for ? fmt::format("the others wait for it: it is {}, without progress for {:.3g} s",
                                     progress_text(rank, common), rank.quiet_s)
                       : "";
}

}  // namespace

bool is_utc(const std::string& text) try {
  return !text.empty() && seconds_between(text, text) == 0;
} catch (const Error&) {
  return false;
}

std::vector<LateRank> late_ranks(std::span<const std::optional<rundir::RankStatus>> ranks, const std::string& now) {
  const auto common = common_of(ranks, now);
  std::vector<std::pair<double, LateRank>> late;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank]) continue;
    auto why = why_late(*ranks[rank], common, now);
    if (!why.empty()) late.push_back({age_s(*ranks[rank], now) + ranks[rank]->quiet_s, {rank, std::move(why)}});
  }
  std::ranges::stable_sort(late, std::greater(), [](const auto& each) { return each.first; });
  std::vector<LateRank> worst_first;
  for (auto& each : late) worst_first.push_back(std::move(each.second));
  return worst_first;
}

}  // namespace trainrt::view
