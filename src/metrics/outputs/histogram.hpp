#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <trainrt/tensor.hpp>

namespace trainrt::metrics {

/// How the values of a tensor are spread. NaN and infinities are counted aside, and are in nothing else.
struct Histogram {
  double min = 0, max = 0;
  double sum = 0, sum_of_squares = 0;
  std::uint64_t count = 0;          ///< of finite values
  std::uint64_t not_finite = 0;     ///< NaN and infinities
  std::vector<double> upper_edges;  ///< of the buckets, ascending; the last is max
  std::vector<std::uint64_t>
      in_bucket;  ///< values from one edge (the first: min) up to, but not at, the next (the last: at)
};

/// Of 64 buckets of the same width from the least value to the greatest, as numpy.histogram() makes of float64; of one, if
/// all values are the same or there are none. bool counts as 0 and 1. `bytes`: whole elements, aligned for their type.
/// Takes about as long as two readings of the memory. Pure.
Histogram histogram_of(DType dtype, std::span<const std::byte> bytes);

}  // namespace trainrt::metrics
