#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace trainrt::data {

/// Returns the ends of consecutive parts with the given sizes; the first part begins at 0.
inline std::vector<std::uint64_t> ends_of(const std::vector<std::int64_t>& sizes) {
  std::vector<std::uint64_t> ends(sizes.begin(), sizes.end());
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  return ends;
}

/// Returns the number of the part that contains `position`. Precondition: `position` is below the end of the last part.
inline std::size_t part_at(const std::vector<std::uint64_t>& ends, std::uint64_t position) {
  return static_cast<std::size_t>(std::ranges::upper_bound(ends, position) - ends.begin());
}

inline std::uint64_t begin_of(const std::vector<std::uint64_t>& ends, std::size_t part) {
  return part == 0 ? 0 : ends[part - 1];
}

}  // namespace trainrt::data
