#include "launch/pmi/process_mapping.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace trainrt::launch {

namespace {

/// One triple of a PMI process mapping: consecutive nodes with the same number of ranks per node. `first` is the index of
/// the first of these nodes.
struct NodeBlock {
  int first, nodes, ranks;
};

std::string text_of_blocks(std::span<const int> node_of_rank) {
  std::vector<NodeBlock> blocks;
  for (std::size_t at = 0; at < node_of_rank.size();) {
    NodeBlock next{node_of_rank[at], 1, 0};
    for (; at < node_of_rank.size() && node_of_rank[at] == next.first; ++at) ++next.ranks;
    auto* last = blocks.empty() ? nullptr : &blocks.back();
    if (last != nullptr && last->ranks == next.ranks && last->first + last->nodes == next.first)
      ++last->nodes;
    else
      blocks.push_back(next);
  }
  std::string text = "(vector";
  for (const auto& block : blocks) text += fmt::format(",({},{},{})", block.first, block.nodes, block.ranks);
  return text + ")";
}

/// Returns the length of the shortest period of `node_of_rank`; the length of the list if it has no period.
std::size_t period_of(std::span<const int> node_of_rank) {
  std::size_t period = 1;
  while (period < node_of_rank.size() &&
         !std::ranges::equal(node_of_rank.subspan(period), node_of_rank.first(node_of_rank.size() - period)))
    ++period;
  return std::min(period, node_of_rank.size());
}

}  // namespace

std::vector<int> nodes_from_mapping(std::string_view mapping, int size) {
  const std::string text(mapping);
  if (!text.starts_with("(vector,")) return {};
  std::vector<NodeBlock> blocks;
  for (std::size_t at = text.find('(', 1); at != std::string::npos; at = text.find('(', at + 1)) {
    NodeBlock block{};
    if (std::sscanf(text.c_str() + at, "(%d,%d,%d)", &block.first, &block.nodes, &block.ranks) != 3) return {};
    if (block.nodes <= 0 || block.ranks <= 0) return {};
    blocks.push_back(block);
  }
  if (blocks.empty()) return {};
  std::vector<int> nodes;
  const auto wanted = static_cast<std::size_t>(size);
  while (nodes.size() < wanted)
    for (const auto& block : blocks)
      for (int node = block.first; node < block.first + block.nodes; ++node)
        nodes.insert(nodes.end(), static_cast<std::size_t>(block.ranks), node);
  nodes.resize(wanted);
  return nodes;
}

std::string mapping_of_nodes(std::span<const int> node_of_rank) {
  constexpr std::size_t max_bytes = 1000;  // maximum length of a mapping, which all PMI libraries accept as a value
  auto text = text_of_blocks(node_of_rank);
  if (text.size() > max_bytes) text = text_of_blocks(node_of_rank.first(period_of(node_of_rank)));
  return text.size() > max_bytes ? std::string() : text;
}

}  // namespace trainrt::launch
