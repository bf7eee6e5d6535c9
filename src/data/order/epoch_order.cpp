#include "data/order/epoch_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <trainrt/random.hpp>

#include "core/text/text.hpp"

namespace trainrt::data {

std::uint64_t order_seed(std::uint64_t run_seed, std::string_view dataset, std::int64_t epoch) {
  return mix_seed(run_seed, stable_hash(dataset), static_cast<std::uint64_t>(epoch));
}

EpochOrder EpochOrder::identity(std::uint64_t size) {
  EpochOrder order;
  order.size_ = size;
  return order;
}

EpochOrder EpochOrder::shuffled(std::uint64_t size, std::uint64_t seed) {
  auto order = identity(size);
  order.order_ = Shuffle(size, seed);
  return order;
}

EpochOrder EpochOrder::legacy_shuffled(std::uint64_t size, std::uint64_t seed) {
  auto order = identity(size);
  order.order_ = Shuffle::legacy(size, seed);
  return order;
}

EpochOrder EpochOrder::mixed(std::uint64_t size, std::vector<MixedPart> parts, std::uint64_t seed, std::int64_t epoch) {
  auto order = identity(size);
  order.order_ = MixedOrder(std::move(parts), seed, static_cast<std::uint64_t>(epoch));
  return order;
}

void EpochOrder::list(std::uint64_t first, std::span<std::uint64_t> into) const {
  while (!into.empty()) {
    const auto begin = first % size_;
    const auto lot = into.first(std::min<std::uint64_t>(into.size(), size_ - begin));
    if (const auto* const blocks = std::get_if<BlockOrder>(&order_))
      blocks->list(begin, lot);
    else if (const auto* const shuffle = std::get_if<Shuffle>(&order_))
      shuffle->list(begin, lot);
    else if (std::holds_alternative<std::monostate>(order_))
      std::iota(lot.begin(), lot.end(), begin);
    else
      for (std::size_t i = 0; i < lot.size(); ++i) lot[i] = (*this)[begin + i];
    first += lot.size();
    into = into.subspan(lot.size());
  }
}

EpochOrder EpochOrder::in_blocks(std::uint64_t size, std::uint64_t seed, Blocks blocks) {
  auto order = identity(size);
  order.order_ = BlockOrder(size, seed, blocks);
  return order;
}

EpochOrder EpochOrder::weighted(std::shared_ptr<const std::vector<double>> sums, std::uint64_t seed) {
  auto order = identity(sums->size());
  order.order_ = WeightedOrder(std::move(sums), seed);
  return order;
}

}  // namespace trainrt::data
