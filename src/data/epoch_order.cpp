#include "data/epoch_order.hpp"

#include <numeric>
#include <utility>

#include <trainrt/random.hpp>

#include "core/text.hpp"

namespace trainrt::data {

std::uint64_t order_seed(std::uint64_t run_seed, std::string_view dataset, std::int64_t epoch) {
  return mix_seed(run_seed, stable_hash(dataset), static_cast<std::uint64_t>(epoch));
}

EpochOrder EpochOrder::identity(std::uint64_t size) {
  EpochOrder order;
  order.size_ = size;
  return order;
}

std::uint64_t EpochOrder::bytes_of_shuffled(std::uint64_t size) {
  return size < most_listed ? size * sizeof(std::uint32_t) : 0;
}

EpochOrder EpochOrder::shuffled(std::uint64_t size, std::uint64_t seed) {
  if (size >= most_listed) return permuted(size, seed);
  auto order = identity(size);
  auto& samples = order.order_.emplace<List>(size);
  std::iota(samples.begin(), samples.end(), std::uint32_t{0});
  Random random(seed, 0);
  for (auto left = size; left > 1; --left) std::swap(samples[left - 1], samples[random.below(left)]);
  return order;
}

EpochOrder EpochOrder::permuted(std::uint64_t size, std::uint64_t seed) {
  auto order = identity(size);
  order.order_ = Permutation(size, seed);
  return order;
}

EpochOrder EpochOrder::in_blocks(std::uint64_t size, std::uint64_t seed, Blocks blocks) {
  auto order = identity(size);
  order.order_ = BlockOrder(size, seed, blocks);
  return order;
}

}  // namespace trainrt::data
