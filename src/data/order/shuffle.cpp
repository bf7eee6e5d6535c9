#include "data/order/shuffle.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <trainrt/random.hpp>

namespace trainrt::data {

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

std::uint64_t Shuffle::legacy_bytes(std::uint64_t size) {
  return size < min_legacy_computed ? size * sizeof(std::uint32_t) : 0;
}

}  // namespace trainrt::data
