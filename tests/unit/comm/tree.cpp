#include "comm/tree.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <string>
#include <trainrt/random.hpp>

using namespace trainrt;
using namespace trainrt::comm;

namespace {

/// Performs the steps on texts, so that the result shows the order of additions: "((0+1)+2)".
void add_up(std::vector<std::string>& parts, const std::vector<TreeStep>& steps) {
  for (const auto [into, from] : steps)
    parts[static_cast<std::size_t>(into)] =
        "(" + parts[static_cast<std::size_t>(into)] + "+" + parts[static_cast<std::size_t>(from)] + ")";
}

std::string whole_tree(int size) {
  std::vector<std::string> parts;
  for (int rank = 0; rank < size; ++rank) parts.push_back(std::to_string(rank));
  add_up(parts, tree_steps(size));
  return parts[0];
}

/// Returns the order of additions if each node first adds up its complete subtrees, and then the nodes' sums are added.
std::string tree_over_nodes(const std::vector<int>& node_of_rank) {
  const int size = static_cast<int>(node_of_rank.size());
  const int nodes = *std::max_element(node_of_rank.begin(), node_of_rank.end()) + 1;
  std::vector<Subtree> subtrees;
  std::vector<std::string> sums;
  for (int node = 0; node < nodes; ++node) {
    std::vector<int> ranks;
    std::vector<std::string> parts;
    for (int rank = 0; rank < size; ++rank) {
      if (node_of_rank[static_cast<std::size_t>(rank)] != node) continue;
      ranks.push_back(rank);
      parts.push_back(std::to_string(rank));
    }
    add_up(parts, steps_within(ranks, size));
    for (const auto& subtree : complete_subtrees(ranks, size)) {
      subtrees.push_back(subtree);
      sums.push_back(parts[static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), subtree.first) - ranks.begin())]);
    }
  }
  add_up(sums, steps_between(subtrees, size));
  return sums[0];
}

}  // namespace

TEST_CASE("the tree adds neighbours first, then pairs of pairs") {
  CHECK(whole_tree(1) == "0");
  CHECK(whole_tree(3) == "((0+1)+2)");
  CHECK(whole_tree(6) == "(((0+1)+(2+3))+(4+5))");
  CHECK(whole_tree(8) == "(((0+1)+(2+3))+((4+5)+(6+7)))");
}

TEST_CASE("the order of additions is the same for every layout of ranks over nodes") {
  CHECK(tree_over_nodes({0, 0, 0, 1, 1, 2}) == whole_tree(6));
  Random random(7, 0);
  for (int round = 0; round < 500; ++round) {
    const int size = 1 + static_cast<int>(random.below(33));
    const auto nodes = 1 + random.below(static_cast<std::uint64_t>(size));
    std::vector<int> node_of_rank;
    int known = 0;
    for (int rank = 0; rank < size; ++rank) {
      const int node =
          std::min(static_cast<int>(random.below(nodes)), known);  // nodes are numbered in the order of their lowest rank
      known = std::max(known, node + 1);
      node_of_rank.push_back(node);
    }
    CAPTURE(size, node_of_rank);
    REQUIRE(tree_over_nodes(node_of_rank) == whole_tree(size));
  }
}

TEST_CASE("ranks in blocks have one complete subtree per node") {
  CHECK(complete_subtrees(std::vector{0, 1, 2, 3}, 8) == std::vector<Subtree>{{0, 4}});
  CHECK(complete_subtrees(std::vector{4, 5, 6}, 7) ==
        std::vector<Subtree>{{4, 4}});  // complete, although it has only 3 of 4 ranks
  CHECK(complete_subtrees(std::vector{0, 1, 2}, 6) == std::vector<Subtree>{{0, 2}, {2, 1}});
  CHECK(complete_subtrees(std::vector{1, 3}, 4) == std::vector<Subtree>{{1, 1}, {3, 1}});
}
