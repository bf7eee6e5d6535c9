#include "view/page/usage_section.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "view/page/number_texts.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

constexpr std::size_t max_ranks = 64, extremes_per_column = 10;

using Field = std::optional<double> RankUsage::*;

std::optional<double> sum_of_ranks(const std::vector<RankUsage>& ranks, Field field) {
  std::optional<double> sum;
  for (const auto& rank : ranks)
    if (rank.*field) sum = sum.value_or(0) + *(rank.*field);
  return sum;
}

std::optional<double> max_of_ranks(const std::vector<RankUsage>& ranks, Field field) {
  std::optional<double> max;
  for (const auto& rank : ranks)
    if (rank.*field) max = std::max(max.value_or(0), *(rank.*field));
  return max;
}

std::optional<double> mean_of_ranks(const std::vector<RankUsage>& ranks, Field field) {
  const auto count = std::ranges::count_if(ranks, [&](const auto& rank) { return (rank.*field).has_value(); });
  return count > 0 ? std::optional(*sum_of_ranks(ranks, field) / static_cast<double>(count)) : std::nullopt;
}

Cell seconds_cell(std::optional<double> seconds) { return seconds ? duration_cell(*seconds) : text_cell("-"); }

Cell energy_cell(std::optional<double> joules) {
  constexpr double watt_hour = 3600;
  return joules ? Cell{.shown = text(fmt::format("{:.4g} Wh", *joules / watt_hour)), .value = joules} : text_cell("-");
}

Markup attempts_table(const std::vector<AttemptUsage>& attempts) {
  TableModel model{.caption = "resource usage by attempt",
                   .columns = {{"attempt"},
                               {"ranks", true},
                               {"CPU time", true},
                               {"maximum memory of a rank", true},
                               {"read", true},
                               {"written", true},
                               {"mean GPU utilization", true},
                               {"maximum GPU memory", true},
                               {"energy", true}},
                   .rows = {}};
  for (const auto& attempt : attempts)
    model.rows.push_back(
        {header_cell(std::to_string(attempt.attempt)), count_cell(static_cast<std::int64_t>(attempt.ranks.size())),
         seconds_cell(sum_of_ranks(attempt.ranks, &RankUsage::cpu_s)),
         size_cell(max_of_ranks(attempt.ranks, &RankUsage::peak)), size_cell(sum_of_ranks(attempt.ranks, &RankUsage::read)),
         size_cell(sum_of_ranks(attempt.ranks, &RankUsage::written)),
         share_cell(mean_of_ranks(attempt.ranks, &RankUsage::gpu)),
         size_cell(max_of_ranks(attempt.ranks, &RankUsage::gpu_memory)),
         energy_cell(sum_of_ranks(attempt.ranks, &RankUsage::energy_j))});
  return table(model);
}

/// Returns all ranks. If there are many ranks, returns only those with the most memory, the most or least CPU time, or
/// the longest time without progress.
std::vector<const RankUsage*> shown_ranks(const std::vector<RankUsage>& ranks) {
  std::vector<const RankUsage*> all;
  for (const auto& rank : ranks) all.push_back(&rank);
  if (all.size() <= max_ranks) return all;
  std::set<const RankUsage*> chosen;
  const auto take = [&](const std::function<double(const RankUsage*)>& key) {
    std::ranges::stable_sort(all, [&](const auto* a, const auto* b) { return key(a) > key(b); });
    chosen.insert(all.begin(), all.begin() + extremes_per_column);
  };
  take([](const auto* rank) { return rank->peak.value_or(0); });
  take([](const auto* rank) { return rank->cpu_s.value_or(0); });
  take([](const auto* rank) { return -rank->cpu_s.value_or(0); });
  take([](const auto* rank) { return rank->ended ? 0 : rank->quiet_s.value_or(0); });
  std::vector<const RankUsage*> shown(chosen.begin(), chosen.end());
  std::ranges::sort(shown, {}, [](const auto* rank) { return rank->rank; });
  return shown;
}

Markup rank_table_of(const AttemptUsage& attempt) {
  TableModel model{.caption = fmt::format("resource usage of the ranks of attempt {}", attempt.attempt),
                   .columns = {{"rank", true},
                               {"node"},
                               {"phase"},
                               {"step", true},
                               {"no progress for", true},
                               {"waits in"},
                               {"CPU time", true},
                               {"CPUs", true},
                               {"memory", true},
                               {"maximum", true},
                               {"read", true},
                               {"written", true},
                               {"GPU", true},
                               {"GPU memory", true},
                               {"energy", true}},
                   .rows = {},
                   .can_be_sorted = true};
  for (const auto* rank : shown_ranks(attempt.ranks))
    model.rows.push_back({count_cell(rank->rank), text_cell(rank->host), text_cell(rank->ended ? "ended" : rank->phase),
                          rank->step ? count_cell(*rank->step) : text_cell("-"),
                          rank->ended ? text_cell("-") : seconds_cell(rank->quiet_s),
                          text_cell(rank->waits_in.empty() ? "-" : rank->waits_in), seconds_cell(rank->cpu_s),
                          rank->cpus ? number_cell(*rank->cpus) : text_cell("-"), size_cell(rank->rss),
                          size_cell(rank->peak), size_cell(rank->read), size_cell(rank->written), share_cell(rank->gpu),
                          size_cell(rank->gpu_memory), energy_cell(rank->energy_j)});
  auto content = table(model);
  if (model.rows.size() < attempt.ranks.size())
    content += paragraph(fmt::format("{} of {} ranks are shown: those with the most memory, the most and the least CPU "
                                     "time, and the longest time without progress.",
                                     model.rows.size(), attempt.ranks.size()),
                         "note");
  return content;
}

}  // namespace

Section usage_section(const std::vector<AttemptUsage>& attempts) {
  Section section{.id = "ranks", .title = "Memory, CPU, storage, GPU", .content = {}};
  if (attempts.empty()) return section;
  section.content += attempts_table(attempts);
  section.content += heading(fmt::format("Ranks of attempt {}", attempts.back().attempt));
  section.content += rank_table_of(attempts.back());
  return section;
}

}  // namespace trainrt::view::page
