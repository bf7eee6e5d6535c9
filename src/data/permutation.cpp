#include "data/permutation.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <trainrt/random.hpp>

namespace trainrt::data {

namespace {

int half_of_bits(std::uint64_t size) {
  return std::max(1, (static_cast<int>(std::bit_width(size > 0 ? size - 1 : 0)) + 1) / 2);
}

/// A bijective mixer of 64 bits, in the form of murmur3's finalizer (Appleby), with other constants.
std::uint64_t mixed(std::uint64_t value) {
  value ^= value >> 32;
  value *= 0x9fb21c651e98df25U;
  value ^= value >> 29;
  value *= 0xd6e8feb86659fd93U;
  return value ^ value >> 32;
}

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed) : size_(size), half_bits_(half_of_bits(size)) {
  for (std::size_t round = 0; round < rounds; ++round) keys_[round] = mix_seed(seed, round);
}

Permutation Permutation::quick(std::uint64_t size, std::uint64_t seed) {
  Permutation made;
  made.size_ = size;
  made.half_bits_ = half_of_bits(size);
  made.is_quick_ = true;
  for (std::size_t round = 0; round < quick_rounds; ++round) made.keys_[round] = mix_seed(seed, round);
  return made;
}

std::uint64_t Permutation::operator[](std::uint64_t number) const {
  do number = is_quick_ ? permute_quickly(number) : permute(number);
  while (number >= size_);
  return number;
}

std::uint64_t Permutation::permute(std::uint64_t number) const {
  const auto mask = (std::uint64_t{1} << half_bits_) - 1;
  auto left = number >> half_bits_, right = number & mask;
  for (std::size_t round = 0; round < rounds; ++round)
    left = std::exchange(right, left ^ (mix_seed(keys_[round], right) & mask));
  return left << half_bits_ | right;
}

std::uint64_t Permutation::permute_quickly(std::uint64_t number) const {
  const auto mask = (std::uint64_t{1} << half_bits_) - 1;
  auto left = number >> half_bits_, right = number & mask;
  for (const auto key : keys_) left = std::exchange(right, left ^ (mixed(key ^ right) & mask));
  return left << half_bits_ | right;
}

}  // namespace trainrt::data
