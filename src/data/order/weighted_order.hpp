#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <trainrt/random.hpp>

namespace trainrt::data {

/// An order that draws samples with replacement, in proportion to their weights. Pure: the sample at a position depends
/// only on the weights, the seed and the position.
class WeightedOrder {
 public:
  /// `sums`: cumulative weights in the order of the samples; the last one is positive.
  WeightedOrder(std::shared_ptr<const std::vector<double>> sums, std::uint64_t seed)
      : sums_(std::move(sums)), seed_(seed) {}

  std::uint64_t operator[](std::uint64_t position) const {
    const auto drawn = Random(seed_, position).uniform() * sums_->back();
    auto found = std::ranges::upper_bound(*sums_, drawn);
    // Because of rounding, the drawn number may be the sum of all weights. It then belongs to the last sample with a
    // weight above 0.
    if (found == sums_->end()) found = std::ranges::lower_bound(*sums_, sums_->back());
    return static_cast<std::uint64_t>(found - sums_->begin());
  }

 private:
  std::shared_ptr<const std::vector<double>> sums_;
  std::uint64_t seed_;
};

}  // namespace trainrt::data
