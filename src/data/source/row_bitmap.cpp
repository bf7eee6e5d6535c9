#include "data/source/row_bitmap.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace trainrt::data {

namespace {

constexpr std::size_t block = 8;  // words: a cache line

std::uint64_t ones(std::uint64_t word) { return static_cast<std::uint64_t>(std::popcount(word)); }

/// The place of the set bit number `at` of a word.
std::uint64_t place_of(std::uint64_t word, std::uint64_t at) {
  for (; at > 0; --at) word &= word - 1;
  return static_cast<std::uint64_t>(std::countr_zero(word));
}

}  // namespace

RowBitmap::RowBitmap(std::vector<std::uint64_t> bits) : bits_(std::move(bits)), before_{0} {
  before_.reserve(bits_.size() / block + 2);
  for (std::size_t first = 0; first < bits_.size(); first += block) {
    std::uint64_t kept = 0;
    for (std::size_t word = first; word < std::min(first + block, bits_.size()); ++word) kept += ones(bits_[word]);
    before_.push_back(before_.back() + kept);
  }
}

std::uint64_t RowBitmap::operator[](std::uint64_t at) const {
  const auto found = std::upper_bound(before_.begin(), before_.end(), at) - before_.begin() - 1;
  auto word = static_cast<std::size_t>(found) * block;
  for (at -= before_[static_cast<std::size_t>(found)]; at >= ones(bits_[word]); ++word) at -= ones(bits_[word]);
  return word * word_bits + place_of(bits_[word], at);
}

std::uint64_t RowBitmap::below(std::uint64_t row) const {
  const auto last = row / word_bits;
  auto count = before_[last / block];
  for (auto word = last / block * block; word < last; ++word) count += ones(bits_[word]);
  const auto rest = row % word_bits;
  return rest == 0 ? count : count + ones(bits_[last] & ((std::uint64_t{1} << rest) - 1));
}

}  // namespace trainrt::data
