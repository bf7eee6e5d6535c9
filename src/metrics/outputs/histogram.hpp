#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <trainrt/tensor.hpp>

namespace trainrt::metrics {

/// Histogram of the finite values of a tensor. NaN and infinities are only counted.
struct Histogram {
  double min = 0, max = 0;
  double sum = 0, sum_of_squares = 0;
  std::uint64_t count = 0;          ///< number of finite values
  std::uint64_t not_finite = 0;     ///< number of NaN and infinite values
  std::vector<double> upper_edges;  ///< upper edges of the buckets, ascending; the last one is `max`
  std::vector<std::uint64_t>
      /// Number of values in each bucket. A bucket begins at the upper edge of the previous bucket (the first one at `min`)
      /// and excludes its own upper edge (the last one includes `max`).
      in_bucket;
};

/// Returns the histogram of a tensor, with 64 buckets of equal width from the minimum to the maximum, equal to
/// numpy.histogram() of float64. It has one bucket if all values are equal or there are no finite values. Booleans count as
/// 0 and 1. `bytes` must contain complete elements, aligned for their type. The values are read twice. Pure function.
Histogram histogram_of(DType dtype, std::span<const std::byte> bytes);

}  // namespace trainrt::metrics
