#pragma once
#include <cmath>
#include <cstddef>
#include <span>

namespace trainrt::tune {

/// Of sorted values, at least one; `part` in [0, 1]. Between two values by a straight line, as numpy.percentile has it
/// (Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, type 7).
inline double quantile(std::span<const double> sorted, double part) {
  const auto at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

}  // namespace trainrt::tune
