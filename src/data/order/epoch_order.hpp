#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <trainrt/random.hpp>

#include "data/order/block_order.hpp"
#include "data/order/mixed_order.hpp"
#include "data/order/permutation.hpp"

namespace trainrt::data {

/// Returns the seed from which the order of epoch `epoch` of a dataset is computed.
std::uint64_t order_seed(std::uint64_t run_seed, std::string_view dataset, std::int64_t epoch);

/// An order that draws samples with replacement, in proportion to their weights. Pure: the sample at a position depends
/// only on the weights, the seed and the position.
class WeightedOrder {
 public:
  /// `sums` has the cumulative sums of the weights, in the order of the samples. The last sum must be positive.
  WeightedOrder(std::shared_ptr<const std::vector<double>> sums, std::uint64_t seed)
      : sums_(std::move(sums)), seed_(seed) {}

  std::uint64_t operator[](std::uint64_t position) const {
    const auto drawn = Random(seed_, position).uniform() * sums_->back();
    auto found = std::ranges::upper_bound(*sums_, drawn);
    // Because of rounding, the drawn number may be the sum of all weights. Such a number selects the last sample that has
    // a weight above 0.
    if (found == sums_->end()) found = std::ranges::lower_bound(*sums_, sums_->back());
    return static_cast<std::uint64_t>(found - sums_->begin());
  }

 private:
  std::shared_ptr<const std::vector<double>> sums_;
  std::uint64_t seed_;
};

/// The order in which an epoch visits the samples. Pure: the same on every rank and machine, and in every version.
class EpochOrder {
 public:
  static EpochOrder identity(std::uint64_t size) { return {size, Ascending()}; }
  static EpochOrder shuffled(std::uint64_t size, std::uint64_t seed) { return {size, Shuffle(size, seed)}; }
  /// Returns the shuffled order of the first trainrt versions, for runs that began with one of these versions.
  static EpochOrder legacy_shuffled(std::uint64_t size, std::uint64_t seed) { return {size, Shuffle::legacy(size, seed)}; }
  static EpochOrder in_blocks(std::uint64_t size, std::uint64_t seed, Blocks blocks) {
    return {size, BlockOrder(size, seed, blocks)};
  }
  /// Returns a MixedOrder. `size` is the sum of the shares of all parts.
  static EpochOrder mixed(std::uint64_t size, std::vector<MixedPart> parts, std::uint64_t seed, std::int64_t epoch) {
    return {size, MixedOrder(std::move(parts), seed, static_cast<std::uint64_t>(epoch))};
  }
  /// Returns a WeightedOrder with one position per sample.
  static EpochOrder weighted(std::shared_ptr<const std::vector<double>> sums, std::uint64_t seed) {
    return {sums->size(), WeightedOrder(sums, seed)};
  }

  std::uint64_t size() const { return size_; }
  /// Returns the sample at `position`. A position of size() or more continues at the beginning of the order, which
  /// Remainder::pad uses. Precondition: size() > 0.
  std::uint64_t operator[](std::uint64_t position) const {
    return std::visit([wrapped = position % size_](const auto& order) { return order[wrapped]; }, order_);
  }
  /// Fills `into` with the samples at the positions from `first` on. Faster than one call per position.
  void list(std::uint64_t first, std::span<std::uint64_t> into) const;

 private:
  struct Ascending {
    std::uint64_t operator[](std::uint64_t position) const { return position; }
  };
  using AnyOrder = std::variant<Ascending, Shuffle, BlockOrder, MixedOrder, WeightedOrder>;
  EpochOrder(std::uint64_t size, AnyOrder order) : size_(size), order_(std::move(order)) {}

  std::uint64_t size_;
  AnyOrder order_;
};

}  // namespace trainrt::data
