#pragma once
#include <algorithm>
#include <cstddef>

namespace trainrt::comm {

/// A range of elements of a buffer.
struct ElementRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Returns the share of rank `index` if `count` elements are divided evenly among `ranks` ranks. Each share begins at a
/// multiple of `grain` elements.
inline ElementRange share_of(std::size_t count, int index, int ranks, std::size_t grain = 1) {
  const auto grains = (count + grain - 1) / grain;
  const auto begin_of = [&](int rank) {
    return std::min(count, grains * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks) * grain);
  };
  return {begin_of(index), begin_of(index + 1) - begin_of(index)};
}

}  // namespace trainrt::comm
