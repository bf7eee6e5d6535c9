#include "view/page/use_section.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "view/page/figures.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

constexpr std::size_t most_ranks = 64, outstanding = 10;

using Field = std::optional<double> RankLine::*;

std::optional<double> sum_of_ranks(const std::vector<RankLine>& ranks, Field field) {
  std::optional<double> sum;
  for (const auto& rank : ranks)
    if (rank.*field) sum = sum.value_or(0) + *(rank.*field);
  return sum;
}

std::optional<double> highest_of_ranks(const std::vector<RankLine>& ranks, Field field) {
  std::optional<double> highest;
  for (const auto& rank : ranks)
    if (rank.*field) highest = std::max(highest.value_or(0), *(rank.*field));
  return highest;
}

std::optional<double> mean_of_ranks(const std::vector<RankLine>& ranks, Field field) {
  const auto count = std::ranges::count_if(ranks, [&](const auto& rank) { return (rank.*field).has_value(); });
  return count > 0 ? std::optional(*sum_of_ranks(ranks, field) / static_cast<double>(count)) : std::nullopt;
}

Cell seconds_cell(std::optional<double> seconds) { return seconds ? duration(*seconds) : word("-"); }

Cell energy_cell(std::optional<double> joules) {
  constexpr double watt_hour = 3600;
  return joules ? Cell{.shown = text(fmt::format("{:.4g} Wh", *joules / watt_hour)), .value = joules} : word("-");
}

Markup attempts_table(const std::vector<AttemptUse>& attempts) {
  TableModel model{.caption = "what the attempts have used",
                   .columns = {{"attempt"},
                               {"ranks", true},
                               {"CPU time", true},
                               {"highest memory of a rank", true},
                               {"read", true},
                               {"written", true},
                               {"GPU, mean", true},
                               {"GPU memory, highest", true},
                               {"energy", true}},
                   .rows = {}};
  for (const auto& attempt : attempts)
    model.rows.push_back(
        {name_cell(std::to_string(attempt.attempt)), count(static_cast<std::int64_t>(attempt.ranks.size())),
         seconds_cell(sum_of_ranks(attempt.ranks, &RankLine::cpu_s)),
         size(highest_of_ranks(attempt.ranks, &RankLine::peak)), size(sum_of_ranks(attempt.ranks, &RankLine::read)),
         size(sum_of_ranks(attempt.ranks, &RankLine::written)), share(mean_of_ranks(attempt.ranks, &RankLine::gpu)),
         size(highest_of_ranks(attempt.ranks, &RankLine::gpu_memory)),
         energy_cell(sum_of_ranks(attempt.ranks, &RankLine::energy_j))});
  return table(model);
}

/// Of many ranks those with the most memory, the least and the most CPU time, and the longest without progress.
std::vector<const RankLine*> shown_ranks(const std::vector<RankLine>& ranks) {
  std::vector<const RankLine*> all;
  for (const auto& rank : ranks) all.push_back(&rank);
  if (all.size() <= most_ranks) return all;
  std::set<const RankLine*> chosen;
  const auto take = [&](const std::function<double(const RankLine*)>& key) {
    std::ranges::stable_sort(all, [&](const auto* a, const auto* b) { return key(a) > key(b); });
    chosen.insert(all.begin(), all.begin() + outstanding);
  };
  take([](const auto* rank) { return rank->peak.value_or(0); });
  take([](const auto* rank) { return rank->cpu_s.value_or(0); });
  take([](const auto* rank) { return -rank->cpu_s.value_or(0); });
  take([](const auto* rank) { return rank->ended ? 0 : rank->quiet_s.value_or(0); });
  std::vector<const RankLine*> shown(chosen.begin(), chosen.end());
  std::ranges::sort(shown, {}, [](const auto* rank) { return rank->rank; });
  return shown;
}

Markup rank_table_of(const AttemptUse& attempt) {
  TableModel model{.caption = fmt::format("what the ranks of attempt {} have used", attempt.attempt),
                   .columns = {{"rank", true},
                               {"node"},
                               {"at"},
                               {"step", true},
                               {"quiet for", true},
                               {"waits in"},
                               {"CPU time", true},
                               {"CPUs", true},
                               {"memory", true},
                               {"highest", true},
                               {"read", true},
                               {"written", true},
                               {"GPU", true},
                               {"GPU memory", true},
                               {"energy", true}},
                   .rows = {},
                   .can_be_sorted = true};
  for (const auto* rank : shown_ranks(attempt.ranks))
    model.rows.push_back({count(rank->rank), word(rank->host), word(rank->ended ? "ended" : rank->phase),
                          rank->step ? count(*rank->step) : word("-"),
                          rank->ended ? word("-") : seconds_cell(rank->quiet_s),
                          word(rank->waits_in.empty() ? "-" : rank->waits_in), seconds_cell(rank->cpu_s),
                          rank->cpus ? figure(*rank->cpus) : word("-"), size(rank->rss), size(rank->peak), size(rank->read),
                          size(rank->written), share(rank->gpu), size(rank->gpu_memory), energy_cell(rank->energy_j)});
  auto content = table(model);
  if (model.rows.size() < attempt.ranks.size())
    content += paragraph(fmt::format("Shown are {} of {} ranks: those with the most memory, the most and the least CPU "
                                     "time, and the longest without progress.",
                                     model.rows.size(), attempt.ranks.size()),
                         "note");
  return content;
}

}  // namespace

Section use_section(const std::vector<AttemptUse>& attempts) {
  Section section{.id = "ranks", .title = "Memory, CPU, storage, GPU", .content = {}};
  if (attempts.empty()) return section;
  section.content += attempts_table(attempts);
  section.content += heading(fmt::format("Ranks of attempt {}", attempts.back().attempt));
  section.content += rank_table_of(attempts.back());
  return section;
}

}  // namespace trainrt::view::page
