#include "program/protocol/rank_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/mistake.hpp"
#include "core/text/text.hpp"

namespace trainrt::program {

namespace {

using Kind = RankCall::Kind;

constexpr std::size_t max_groups = 8;  // maximum number of groups that an error message lists

/// Ranks that have the same text in an error message.
struct Group {
  std::string text;
  std::vector<int> ranks;
};

/// Returns a text that names the ranks: "rank 3" or "ranks 0-2,5".
std::string in_words(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t first = 0; first < ranks.size();) {
    auto last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (first == 0 ? "" : ",") + std::to_string(ranks[first]);
    if (last > first) text += "-" + std::to_string(ranks[last]);
    first = last + 1;
  }
  return text;
}

/// Groups the ranks of `kind` by the text that `text` returns for each rank. The groups are ordered by their first
/// ranks.
template <class Text>
std::vector<Group> groups_of(std::span<const RankCall> ranks, Kind kind, const Text& text) {
  std::vector<Group> groups;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].kind != kind) continue;
    auto found = text(ranks[rank]);
    auto group = std::ranges::find(groups, found, &Group::text);
    if (group == groups.end()) group = groups.insert(groups.end(), {std::move(found), {}});
    group->ranks.push_back(static_cast<int>(rank));
  }
  return groups;
}

/// Joins the texts that `part(group, is_first)` returns for the first `max_groups` groups.
template <class Part>
std::string joined(const std::vector<Group>& groups, const Part& part) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(groups.size(), max_groups); ++i) parts.push_back(part(groups[i], i == 0));
  if (groups.size() > max_groups) parts.push_back(fmt::format("and {} more", groups.size() - max_groups));
  return join(parts);
}

std::string in_brackets(const std::string& last_call) {
  return last_call.empty() ? "" : fmt::format(" (last call: {})", last_call);
}

std::string waits_in(const Group& group, bool is_first) {
  const auto* verb = !is_first ? "" : group.ranks.size() == 1 ? " waits" : " wait";
  return fmt::format("{}{} in {}", in_words(group.ranks), verb, group.text);
}

}  // namespace

std::vector<RankCall> gather_rank_calls(Communicator& communicator, const RankCall& mine) {
  const nlohmann::json text = {static_cast<int>(mine.kind), mine.place, mine.last_call};
  std::vector<RankCall> ranks;
  for (const auto& of_rank : communicator.all_gather(text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))) {
    const auto read = nlohmann::json::parse(of_rank);
    ranks.push_back({static_cast<Kind>(read.at(0).get<int>()), read.at(1), read.at(2)});
  }
  return ranks;
}

std::string mismatch_in_words(std::span<const RankCall> ranks) {
  const auto waiting = groups_of(ranks, Kind::waiting, [](const RankCall& rank) { return rank.place; });
  const auto left =
      groups_of(ranks, Kind::left, [](const RankCall& rank) { return rank.place + in_brackets(rank.last_call); });
  if (left.empty()) {
    const auto part = [](const Group& group, bool is_first) {
      const auto* verb = !is_first ? "" : group.ranks.size() == 1 ? " is" : " are";
      return fmt::format("{}{} in {}", in_words(group.ranks), verb, group.text);
    };
    return fmt::format(
        "the ranks do not make the same call: {}. Every rank must make the same collective calls in the same order",
        joined(waiting, part));
  }
  const auto part = [](const Group& group, bool) { return fmt::format("{} left {}", in_words(group.ranks), group.text); };
  if (waiting.empty())
    return fmt::format("{}. Every rank must make the same collective calls, equally often", joined(left, part));
  return fmt::format("{} while {}. Every rank must make the same collective calls, equally often", joined(left, part),
                     joined(waiting, waits_in));
}

std::string missing_in_words(std::span<const RankCall> ranks) {
  const auto missing = groups_of(ranks, Kind::computing, [](const RankCall& rank) { return in_brackets(rank.last_call); });
  return joined(missing, [](const Group& group, bool) { return in_words(group.ranks) + group.text; });
}

void throw_mismatch(std::span<const std::string> arguments, std::span<const std::string> places) {
  std::size_t other = 1;
  while (arguments[other] == arguments[0]) ++other;
  throw MistakeError(fmt::format("train.program: the ranks do not make the same call: "
                                 "rank 0 passed {}, rank {} passed {} (rank 0 in {}, rank {} in {})",
                                 arguments[0], other, arguments[other], places[0], other, places[other]),
                     mistake_kind::calls_differ);
}

}  // namespace trainrt::program
