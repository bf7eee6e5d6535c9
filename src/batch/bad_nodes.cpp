#include "batch/bad_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace trainrt::batch {

namespace {

constexpr std::size_t max_listed = 8;  // maximum number of attempts that a message lists as reasons for excluding a node

/// Returns the reason why node `name` should be excluded because attempts failed on it; "" if it should not be excluded.
std::string why_bad(std::span<const NodeEnd> ends, const std::string& name, int min_ends) {
  std::vector<int> there;
  std::size_t anywhere = 0;
  for (const auto& end : ends) {
    if (end.node.empty() || end.slow) continue;
    ++anywhere;
    if (end.node == name) there.push_back(end.attempt);
  }
  if (min_ends == 0 || there.size() < static_cast<std::size_t>(min_ends) || 2 * there.size() < anywhere) return {};
  const auto last = std::span(there).last(std::min(there.size(), max_listed));
  return fmt::format("{} attempt{} ended on this node ({}{})", there.size(), there.size() == 1 ? "" : "s",
                     last.size() < there.size() ? "the last: " : "", fmt::join(last, ", "));
}

}  // namespace

std::optional<BadNode> bad_node(std::span<const NodeEnd> ends, std::span<const std::string> excluded,
                                const ExclusionRules& rules) {
  if (ends.empty() || ends.back().node.empty()) return std::nullopt;
  const auto& last = ends.back();
  if (std::ranges::find(excluded, last.node) != excluded.end()) return std::nullopt;
  auto why = last.slow ? last.why : why_bad(ends, last.node, rules.min_ends);
  if (why.empty()) return std::nullopt;
  return BadNode{last.node, std::move(why), excluded.size() < static_cast<std::size_t>(rules.max_nodes)};
}

}  // namespace trainrt::batch
