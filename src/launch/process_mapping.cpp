#include "launch/process_mapping.hpp"

#include <cstdio>
#include <string>

namespace trainrt::launch {

std::vector<int> nodes_from_mapping(std::string_view mapping, int size) {
  const std::string text(mapping);
  if (!text.starts_with("(vector,")) return {};
  struct Block {
    int first, nodes, ranks;
  };
  std::vector<Block> blocks;
  for (std::size_t at = text.find('(', 1); at != std::string::npos; at = text.find('(', at + 1)) {
    Block block{};
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

}  // namespace trainrt::launch
