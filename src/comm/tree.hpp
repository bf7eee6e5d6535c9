#pragma once
#include <compare>
#include <span>
#include <vector>

namespace trainrt::comm {

// The binary tree over rank numbers that every sum follows: neighbours first, then pairs of pairs,
// (((0+1)+(2+3))+((4+5)+...)). If the number of ranks is not a power of two, right subtrees may be smaller or missing.

/// One step of a reduction: parts[into] = parts[into] (op) parts[from].
struct TreeStep {
  int into = 0;
  int from = 0;
  auto operator<=>(const TreeStep&) const = default;
};

/// A subtree of the tree: the ranks [first, min(first + width, size)). `width` is a power of two.
struct Subtree {
  int first = 0;
  int width = 1;
  auto operator<=>(const Subtree&) const = default;
};

/// Returns the steps that combine one part per rank to the result in parts[0].
std::vector<TreeStep> tree_steps(int size);

/// Returns the largest subtrees that contain only ranks of `ranks` (ascending). Together they contain all these ranks.
/// Sorted by rank.
std::vector<Subtree> complete_subtrees(std::span<const int> ranks, int size);

/// Returns the steps that combine the parts of the ranks in `ranks`, so that the part of the first rank of each complete
/// subtree becomes the result of that subtree. Parts are numbered by index in `ranks`.
std::vector<TreeStep> steps_within(std::span<const int> ranks, int size);

/// Returns the steps that combine the results of subtrees, which contain all ranks and may be in any order, to the result
/// of all ranks. It is in the part of the subtree that contains rank 0.
std::vector<TreeStep> steps_between(std::span<const Subtree> parts, int size);

}  // namespace trainrt::comm
