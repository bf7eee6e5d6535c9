#include "comm/tree.hpp"

#include <algorithm>
#include <bit>

namespace trainrt::comm {

namespace {

int root_width(int size) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(size, 1)))); }

/// Calls visit(subtree) for the subtree `at` and the subtrees that it contains, from the root down. visit() returns whether
/// to visit the two halves of the subtree, too.
template <class Visit>
void descend(Subtree at, int size, Visit& visit) {
  if (at.first >= size || !visit(at)) return;
  descend({at.first, at.width / 2}, size, visit);
  descend({at.first + at.width / 2, at.width / 2}, size, visit);
}

/// Appends the steps that reduce the subtree `at`. Returns the index of the array with the subtree's result, or -1 if the
/// subtree contains no rank.
///
/// leaf(subtree) returns the index of the array that already has the result of `subtree`. It returns -1 if this result must
/// be computed from the halves of `subtree`.
template <class Leaf>
int steps_of(Subtree at, int size, const Leaf& leaf, std::vector<TreeStep>& steps) {
  if (at.first >= size) return -1;
  if (const int part = leaf(at); part >= 0) return part;
  const int lower = steps_of({at.first, at.width / 2}, size, leaf, steps);
  const int upper = steps_of({at.first + at.width / 2, at.width / 2}, size, leaf, steps);
  if (upper >= 0) steps.push_back({lower, upper});
  return lower;
}

}  // namespace

std::vector<TreeStep> tree_steps(int size) {
  std::vector<TreeStep> steps;
  for (int stride = 1; stride < size; stride *= 2)
    for (int i = 0; i + stride < size; i += 2 * stride) steps.push_back({i, i + stride});
  return steps;
}

std::vector<Subtree> complete_subtrees(std::span<const int> ranks, int size) {
  std::vector<Subtree> found;
  auto visit = [&](Subtree at) {
    const auto begin = std::ranges::lower_bound(ranks, at.first);
    const auto end = std::ranges::lower_bound(ranks, at.first + at.width);
    const int held = static_cast<int>(end - begin);
    if (held == std::min(at.first + at.width, size) - at.first) found.push_back(at);
    return held > 0 && (found.empty() || found.back() != at);
  };
  descend({0, root_width(size)}, size, visit);
  return found;
}

std::vector<TreeStep> steps_within(std::span<const int> ranks, int size) {
  std::vector<TreeStep> steps;
  const auto number = [&](int rank) { return static_cast<int>(std::ranges::lower_bound(ranks, rank) - ranks.begin()); };
  for (const auto& subtree : complete_subtrees(ranks, size))
    steps_of(
        subtree, size, [&](Subtree at) { return at.width == 1 ? number(at.first) : -1; }, steps);
  return steps;
}

std::vector<TreeStep> steps_between(std::span<const Subtree> parts, int size) {
  std::vector<TreeStep> steps;
  // Two subtrees count as equal if they contain the same ranks. The widths of equal subtrees may differ if they contain
  // the last rank.
  const auto end_of = [&](Subtree s) { return std::min(s.first + s.width, size); };
  const auto leaf = [&](Subtree at) {
    const auto found =
        std::ranges::find_if(parts, [&](Subtree s) { return s.first == at.first && end_of(s) == end_of(at); });
    return found == parts.end() ? -1 : static_cast<int>(found - parts.begin());
  };
  steps_of({0, root_width(size)}, size, leaf, steps);
  return steps;
}

}  // namespace trainrt::comm
