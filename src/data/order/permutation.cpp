#include "data/order/permutation.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include <trainrt/random.hpp>

namespace trainrt::data {

namespace {

int half_of_bits(std::uint64_t size) {
  return std::max(1, (static_cast<int>(std::bit_width(size > 0 ? size - 1 : 0)) + 1) / 2);
}

/// Maps 64 bits to 64 pseudorandom bits. Bijective. Has the form of murmur3's finalizer (Appleby), but other constants.
std::uint64_t mixed(std::uint64_t value) {
  value ^= value >> 32;
  value *= 0x9fb21c651e98df25U;
  value ^= value >> 29;
  value *= 0xd6e8feb86659fd93U;
  return value ^ value >> 32;
}

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, bool is_quick)
    : size_(size), half_bits_(half_of_bits(size)), is_quick_(is_quick) {
  const std::size_t count = is_quick ? quick_rounds : rounds;
  for (std::size_t round = 0; round < count; ++round) keys_[round] = mix_seed(seed, round);
}

std::uint64_t Permutation::operator[](std::uint64_t number) const {
  do
    if (is_quick_)
      permute_quickly<1>(&number);
    else
      number = permute(number);
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

/// Permutes `lanes` numbers. The multiplications of different numbers are independent, so the processor executes them in
/// parallel. Each iteration of the loop computes two rounds, so that the two halves of a number need not be exchanged.
template <std::size_t lanes>
void Permutation::permute_quickly(std::uint64_t* numbers) const {
  static_assert(quick_rounds % 2 == 0);
  const auto mask = (std::uint64_t{1} << half_bits_) - 1;
  std::array<std::uint64_t, lanes> left, right;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    left[lane] = numbers[lane] >> half_bits_;
    right[lane] = numbers[lane] & mask;
  }
  for (std::size_t round = 0; round < quick_rounds; round += 2) {
    for (std::size_t lane = 0; lane < lanes; ++lane) left[lane] ^= mixed(keys_[round] ^ right[lane]) & mask;
    for (std::size_t lane = 0; lane < lanes; ++lane) right[lane] ^= mixed(keys_[round + 1] ^ left[lane]) & mask;
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) numbers[lane] = left[lane] << half_bits_ | right[lane];
}

void Permutation::permute_all(std::span<std::uint64_t> numbers) const {
  constexpr std::size_t lanes = 4;
  if (!is_quick_) {
    for (auto& number : numbers) number = permute(number);
    return;
  }
  std::size_t at = 0;
  for (; at + lanes <= numbers.size(); at += lanes) permute_quickly<lanes>(numbers.data() + at);
  for (; at < numbers.size(); ++at) permute_quickly<1>(numbers.data() + at);
}

void Permutation::map(std::span<std::uint64_t> numbers) const {
  constexpr std::size_t lot = 256;
  std::array<std::uint64_t, lot> walking;
  std::array<std::size_t, lot> indices;
  for (std::size_t first = 0; first < numbers.size(); first += lot) {
    const auto part = numbers.subspan(first, std::min(lot, numbers.size() - first));
    std::copy(part.begin(), part.end(), walking.begin());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    for (auto left = part.size(); left > 0;) {
      permute_all(std::span(walking).first(left));
      std::size_t go_on = 0;
      for (std::size_t i = 0; i < left; ++i) {
        part[indices[i]] = walking[i];
        if (walking[i] < size_) continue;
        walking[go_on] = walking[i];
        indices[go_on++] = indices[i];
      }
      left = go_on;
    }
  }
}

Shuffle::List Shuffle::listed(std::uint64_t size, std::uint64_t seed) {
  List numbers(size);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  Random random(seed, 0);
  for (auto left = size; left > 1; --left) std::swap(numbers[left - 1], numbers[random.below(left)]);
  return numbers;
}

Shuffle::Shuffle(std::uint64_t size, std::uint64_t seed) {
  if (size < min_computed)
    order_ = listed(size, seed);
  else
    order_ = Permutation::quick(size, seed);
}

Shuffle Shuffle::legacy(std::uint64_t size, std::uint64_t seed) {
  if (size < min_legacy_computed) return Shuffle(listed(size, seed));
  return Shuffle(Permutation(size, seed));
}

void Shuffle::list(std::uint64_t first, std::span<std::uint64_t> into) const {
  if (const auto* const listed = std::get_if<List>(&order_)) {
    std::copy_n(listed->begin() + static_cast<std::ptrdiff_t>(first), into.size(), into.begin());
    return;
  }
  std::iota(into.begin(), into.end(), first);
  std::get<Permutation>(order_).map(into);
}

}  // namespace trainrt::data
