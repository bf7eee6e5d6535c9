#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace trainrt::data {

/// An order that draws samples in proportion to their weights, with repetition. Pure: what stands at a position hangs on
/// the seed and the position.
class WeightedOrder {
 public:
  /// `sums`: the weights added up, in the order of the samples; the last one is positive.
  WeightedOrder(std::shared_ptr<const std::vector<double>> sums, std::uint64_t seed)
      : sums_(std::move(sums)), seed_(seed) {}
  std::uint64_t operator[](std::uint64_t position) const;

 private:
  std::ptrdiff_t last_drawn() const;

  std::shared_ptr<const std::vector<double>> sums_;
  std::uint64_t seed_;
};

}  // namespace trainrt::data
