#pragma once
#include <algorithm>
#include <cstddef>

namespace trainrt::comm {

/// A range of consecutive elements of a buffer: `count` elements, beginning with the element with index `first`.
struct ElementRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Divides `count` elements evenly among `ranks` ranks and returns the share of rank `index`. Each share begins at a
/// multiple of `grain` elements.
inline ElementRange share_of(std::size_t count, int index, int ranks, std::size_t grain = 1) {
  const auto grains = (count + grain - 1) / grain;
  const auto begin_of = [&](int rank) {
    return std::min(count, grains * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks) * grain);
  };
  return {begin_of(index), begin_of(index + 1) - begin_of(index)};
}

}  // namespace trainrt::comm
