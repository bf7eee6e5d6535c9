#pragma once
#include <compare>
#include <span>
#include <vector>

namespace trainrt::comm {

// The fixed binary tree over rank numbers along which every sum is computed: neighbours first, then pairs of neighbours,
// (((0+1)+(2+3))+((4+5)+...)). If the number of ranks is not a power of two, right subtrees may be smaller or missing.

/// One step of a reduction of the arrays `parts`, where op is the operation: parts[into] = parts[into] op parts[from].
struct TreeStep {
  int into = 0;
  int from = 0;
  auto operator<=>(const TreeStep&) const = default;
};

/// A subtree of the reduction tree. It contains the ranks from `first` to min(first + width, size) - 1. `width` is a power
/// of two.
struct Subtree {
  int first = 0;
  int width = 1;
  auto operator<=>(const Subtree&) const = default;
};

/// Returns the steps that reduce one array per rank, parts[0] to parts[size - 1], so that parts[0] has the result.
std::vector<TreeStep> tree_steps(int size);

/// Returns the largest subtrees of the reduction tree that contain only ranks of `ranks`, sorted by rank. Together they
/// contain all of `ranks`, which must be in ascending order. `size`: number of ranks of the complete tree.
std::vector<Subtree> complete_subtrees(std::span<const int> ranks, int size);

/// Returns the reduction steps within a group of ranks, such as the ranks of a node. There is one array per rank, numbered
/// by the index of the rank in `ranks`. For each subtree that complete_subtrees(ranks, size) returns, the array of the
/// subtree's first rank receives the sum of the subtree.
std::vector<TreeStep> steps_within(std::span<const int> ranks, int size);

/// Returns the steps that combine the results of subtrees, one array per subtree, into the result of all ranks. `parts`:
/// the subtree of each array, in any order; together the subtrees contain all ranks. The array of the subtree that contains
/// rank 0 receives the final result.
std::vector<TreeStep> steps_between(std::span<const Subtree> parts, int size);

}  // namespace trainrt::comm
