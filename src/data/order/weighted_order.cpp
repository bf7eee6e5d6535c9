#include "data/order/weighted_order.hpp"

#include <algorithm>

#include <trainrt/random.hpp>

namespace trainrt::data {

std::uint64_t WeightedOrder::operator[](std::uint64_t position) const {
  Random random(seed_, position);
  const auto place = random.uniform() * sums_->back();
  const auto found = std::ranges::upper_bound(*sums_, place);
  return static_cast<std::uint64_t>(found == sums_->end() ? last_drawn() : found - sums_->begin());
}

/// Rounding may put a place at the very end: behind the last sample that has a weight there is none.
std::ptrdiff_t WeightedOrder::last_drawn() const {
  return std::ranges::lower_bound(*sums_, sums_->back()) - sums_->begin();
}

}  // namespace trainrt::data
