#include "data/permutation.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <trainrt/random.hpp>

namespace trainrt::data {

Permutation::Permutation(std::uint64_t size, std::uint64_t seed)
    : size_(size), half_bits_(std::max(1, (static_cast<int>(std::bit_width(size > 0 ? size - 1 : 0)) + 1) / 2)) {
  for (std::size_t round = 0; round < keys_.size(); ++round) keys_[round] = mix_seed(seed, round);
}

std::uint64_t Permutation::operator[](std::uint64_t number) const {
  const auto mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    auto left = number >> half_bits_, right = number & mask;
    for (const auto key : keys_) left = std::exchange(right, left ^ (mix_seed(key, right) & mask));
    number = left << half_bits_ | right;
  } while (number >= size_);
  return number;
}

}  // namespace trainrt::data
