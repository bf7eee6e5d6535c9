#include "checkpoint/save/joined_failures.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "core/text/text.hpp"

namespace trainrt::checkpoint {

namespace {

/// Ranks that failed with the same text.
struct Group {
  std::string key;  ///< `text` without numbers
  std::string text;
  std::vector<int> ranks;  ///< in ascending order
  std::vector<std::string> hosts;
};

/// Returns ranks as ranges: "0-3, 6".
std::string ranges_of(const std::vector<int>& ranks) {
  std::vector<std::string> ranges;
  for (std::size_t begin = 0; begin < ranks.size();) {
    auto end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    ranges.push_back(end - begin == 1 ? std::to_string(ranks[begin]) : fmt::format("{}-{}", ranks[begin], ranks[end - 1]));
    begin = end;
  }
  return join(ranges);
}

void add(const std::string& failure, std::vector<Group>& groups) {
  constexpr std::string_view before_rank = "rank ", before_host = " on ", before_text = ": ";
  const auto host_at = failure.find(before_host);
  const auto text_at = failure.find(before_text, host_at == std::string::npos ? 0 : host_at);
  int rank = 0;
  if (text_at == std::string::npos || !failure.starts_with(before_rank) ||
      std::from_chars(failure.data() + before_rank.size(), failure.data() + failure.size(), rank).ec != std::errc()) {
    groups.push_back({.key = failure, .text = failure, .ranks = {}, .hosts = {}});
    return;
  }
  const auto host = failure.substr(host_at + before_host.size(), text_at - host_at - before_host.size());
  const auto text = failure.substr(text_at + before_text.size());
  auto key = without_numbers(text);
  auto group = std::ranges::find(groups, key, &Group::key);
  if (group == groups.end())
    group = groups.insert(groups.end(), {.key = std::move(key), .text = text, .ranks = {}, .hosts = {}});
  group->ranks.push_back(rank);
  if (std::ranges::find(group->hosts, host) == group->hosts.end()) group->hosts.push_back(host);
}

std::string text_of(const Group& group) {
  if (group.ranks.empty()) return group.text;
  return fmt::format("{} {} on {}: {}", group.ranks.size() == 1 ? "rank" : "ranks", ranges_of(group.ranks),
                     join(group.hosts), group.text);
}

}  // namespace

std::string joined_failures(std::span<const std::string> failures) {
  std::vector<Group> groups;
  for (const auto& failure : failures) add(failure, groups);
  std::vector<std::string> texts;
  for (const auto& group : groups) texts.push_back(text_of(group));
  return join(texts, "; ");
}

}  // namespace trainrt::checkpoint
