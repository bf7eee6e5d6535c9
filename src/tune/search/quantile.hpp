#pragma once
#include <cmath>
#include <cstddef>
#include <span>

namespace trainrt::tune {

/// Returns the quantile `part` (0 to 1) of `sorted`, which has at least one value, in ascending order. Interpolates
/// linearly between neighbouring values, as numpy.percentile does (Hyndman and Fan, Sample Quantiles in Statistical
/// Packages, 1996, type 7).
inline double quantile(std::span<const double> sorted, double part) {
  const auto at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

}  // namespace trainrt::tune
