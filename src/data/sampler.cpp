#include "data/sampler.hpp"

#include <algorithm>
#include <bit>
#include <limits>
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
  auto& samples = order.samples_;
  samples.resize(size);
  std::iota(samples.begin(), samples.end(), std::uint32_t{0});
  Random random(seed, 0);
  for (auto left = size; left > 1; --left) std::swap(samples[left - 1], samples[random.below(left)]);
  return order;
}

EpochOrder EpochOrder::permuted(std::uint64_t size, std::uint64_t seed) {
  auto order = identity(size);
  order.half_bits_ = std::max(1, (static_cast<int>(std::bit_width(size > 0 ? size - 1 : 0)) + 1) / 2);
  for (std::size_t round = 0; round < order.keys_.size(); ++round) order.keys_[round] = mix_seed(seed, round);
  return order;
}

std::uint64_t EpochOrder::permute(std::uint64_t position) const {
  const auto mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    auto left = position >> half_bits_, right = position & mask;
    for (const auto key : keys_) left = std::exchange(right, left ^ (mix_seed(key, right) & mask));
    position = left << half_bits_ | right;
  } while (position >= size_);
  return position;
}

namespace {

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

/// Positions that are visited, of `left` samples.
std::uint64_t visited(std::uint64_t left, std::uint64_t global_batch, std::uint64_t workers, Remainder remainder) {
  switch (remainder) {
    case Remainder::pad:
      return (left + workers - 1) / workers * workers;
    case Remainder::drop:
      return left / global_batch * global_batch;
    case Remainder::uneven:
      return left;
  }
  return left;
}

}  // namespace

BatchPlan::BatchPlan(std::uint64_t samples, std::uint64_t start, Split split, Remainder remainder)
    : start_(start), ranks_(static_cast<std::uint64_t>(split.ranks)) {
  const auto workers = split.workers > 0 ? static_cast<std::uint64_t>(split.workers) : ranks_;
  global_batch_ = saturating_product(split.batch_size, workers);
  const auto left = samples > start ? samples - start : 0;
  end_ = start_ + visited(left, global_batch_, workers, remainder);
}

std::uint64_t BatchPlan::batch_count() const {
  const auto positions = end_ - start_;
  return positions / global_batch_ + (positions % global_batch_ != 0 ? 1 : 0);
}

Slice BatchPlan::global_batch(std::uint64_t k) const {
  if (k >= batch_count()) return {end_, 0};
  const auto first = start_ + k * global_batch_;
  return {first, std::min(global_batch_, end_ - first)};
}

Slice BatchPlan::rank_part(std::uint64_t k, int rank) const {
  const auto whole = global_batch(k);
  const auto r = static_cast<std::uint64_t>(rank);
  const auto share = whole.count / ranks_;
  const auto with_one_more = whole.count % ranks_;
  return {whole.first + r * share + std::min(r, with_one_more), share + (r < with_one_more ? 1 : 0)};
}

}  // namespace trainrt::data
