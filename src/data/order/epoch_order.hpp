#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "data/order/block_order.hpp"
#include "data/order/mixed_order.hpp"
#include "data/order/shuffle.hpp"
#include "data/order/weighted_order.hpp"

namespace trainrt::data {

/// Returns the seed from which the order of epoch `epoch` of a dataset is computed.
std::uint64_t order_seed(std::uint64_t run_seed, std::string_view dataset, std::int64_t epoch);

/// The order in which an epoch visits the samples. Pure: the same on every rank and machine, and in every version.
class EpochOrder {
 public:
  static EpochOrder identity(std::uint64_t size);
  static EpochOrder shuffled(std::uint64_t size, std::uint64_t seed);
  /// Returns the order of the first trainrt versions, which is Shuffle::legacy().
  static EpochOrder legacy_shuffled(std::uint64_t size, std::uint64_t seed);
  /// Returns a BlockOrder.
  static EpochOrder in_blocks(std::uint64_t size, std::uint64_t seed, Blocks blocks);
  /// Returns a MixedOrder. `size` is the sum of the shares.
  static EpochOrder mixed(std::uint64_t size, std::vector<MixedPart> parts, std::uint64_t seed, std::int64_t epoch);
  /// Returns a WeightedOrder with one position per sample.
  static EpochOrder weighted(std::shared_ptr<const std::vector<double>> sums, std::uint64_t seed);

  std::uint64_t size() const { return size_; }
  /// Returns the sample at `position`. A position of size() or more continues at the beginning of the order, which
  /// Remainder::pad uses. Precondition: size() > 0.
  std::uint64_t operator[](std::uint64_t position) const {
    const auto wrapped = position % size_;
    if (const auto* const shuffle = std::get_if<Shuffle>(&order_)) return (*shuffle)[wrapped];
    if (const auto* const blocks = std::get_if<BlockOrder>(&order_)) return (*blocks)[wrapped];
    if (const auto* const mixed = std::get_if<MixedOrder>(&order_)) return (*mixed)[wrapped];
    if (const auto* const weighted = std::get_if<WeightedOrder>(&order_)) return (*weighted)[wrapped];
    return wrapped;
  }
  /// Sets `into` to the samples at the positions from `first` on. Faster than one call per position.
  void list(std::uint64_t first, std::span<std::uint64_t> into) const;

 private:
  std::uint64_t size_ = 0;
  std::variant<std::monostate, Shuffle, BlockOrder, MixedOrder, WeightedOrder> order_;
};

}  // namespace trainrt::data
