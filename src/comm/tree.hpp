#pragma once
#include <compare>
#include <span>
#include <vector>

namespace trainrt::comm {

// The one binary tree over rank numbers that every sum follows: neighbours first, then pairs of pairs,
// (((0+1)+(2+3))+((4+5)+...)). If the number of ranks is no power of two, a right half may be cut short or missing.

/// parts[into] = parts[into] (op) parts[from].
struct TreeStep {
  int into = 0;
  int from = 0;
  auto operator<=>(const TreeStep&) const = default;
};

/// The ranks [first, min(first + width, size)), of which one inner point of the tree is the sum. width is a power of two.
struct Subtree {
  int first = 0;
  int width = 1;
  auto operator<=>(const Subtree&) const = default;
};

/// From one part a rank to the sum in parts[0].
std::vector<TreeStep> tree_steps(int size);

/// The largest subtrees that lie whole within `ranks` (ascending), together all of them, ascending.
std::vector<Subtree> whole_subtrees(std::span<const int> ranks, int size);

/// From one part a rank of `ranks` to one part a subtree: the parts are numbered as in `ranks`, a subtree's sum ends in the
/// part of its first rank.
std::vector<TreeStep> steps_within(std::span<const int> ranks, int size);

/// From the sums of subtrees that cover all ranks, in any order, to the sum of all; it ends in the part of the subtree that
/// holds rank 0.
std::vector<TreeStep> steps_between(std::span<const Subtree> parts, int size);

}  // namespace trainrt::comm
