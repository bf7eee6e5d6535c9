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

/// The seed of an epoch's order.
std::uint64_t order_seed(std::uint64_t run_seed, std::string_view dataset, std::int64_t epoch);

/// The order in which an epoch visits the samples, the same on every rank. Pure; the same for all times and machines.
class EpochOrder {
 public:
  static EpochOrder identity(std::uint64_t size);
  static EpochOrder shuffled(std::uint64_t size, std::uint64_t seed);
  /// As the first versions shuffled (Shuffle::legacy).
  static EpochOrder legacy_shuffled(std::uint64_t size, std::uint64_t seed);
  /// BlockOrder.
  static EpochOrder in_blocks(std::uint64_t size, std::uint64_t seed, Blocks blocks);
  /// MixedOrder; `size` is the sum of the shares.
  static EpochOrder mixed(std::uint64_t size, std::vector<MixedPart> parts, std::uint64_t seed, std::int64_t epoch);

  /// WeightedOrder, of as many positions as there are samples.
  static EpochOrder weighted(std::shared_ptr<const std::vector<double>> sums, std::uint64_t seed);

  std::uint64_t size() const { return size_; }
  /// The sample at a position; behind the end the order starts over (what Remainder::pad repeats). size() > 0.
  std::uint64_t operator[](std::uint64_t position) const {
    const auto wrapped = position % size_;
    if (const auto* const shuffle = std::get_if<Shuffle>(&order_)) return (*shuffle)[wrapped];
    if (const auto* const blocks = std::get_if<BlockOrder>(&order_)) return (*blocks)[wrapped];
    if (const auto* const mixed = std::get_if<MixedOrder>(&order_)) return (*mixed)[wrapped];
    if (const auto* const weighted = std::get_if<WeightedOrder>(&order_)) return (*weighted)[wrapped];
    return wrapped;
  }
  /// What [] gives of `first` and the positions behind it, in less time.
  void list(std::uint64_t first, std::span<std::uint64_t> into) const;

 private:
  std::uint64_t size_ = 0;
  std::variant<std::monostate, Shuffle, BlockOrder, MixedOrder, WeightedOrder> order_;
};

}  // namespace trainrt::data
