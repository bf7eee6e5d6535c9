#include "data/shuffle.hpp"

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
  if (size < most_listed)
    order_ = listed(size, seed);
  else
    order_ = Permutation::quick(size, seed);
}

Shuffle Shuffle::of_first_versions(std::uint64_t size, std::uint64_t seed) {
  if (size < most_listed_before) return Shuffle(listed(size, seed));
  return Shuffle(Permutation(size, seed));
}

std::uint64_t Shuffle::bytes_of_first_versions(std::uint64_t size) {
  return size < most_listed_before ? size * sizeof(std::uint32_t) : 0;
}

}  // namespace trainrt::data
