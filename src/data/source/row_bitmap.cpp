#include "data/source/row_bitmap.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace trainrt::data {

namespace {

constexpr std::size_t block_words = 8;  // a block fills a cache line

std::uint64_t ones(std::uint64_t word) { return static_cast<std::uint64_t>(std::popcount(word)); }

}  // namespace

RowBitmap::RowBitmap(std::vector<std::uint64_t> bits) : bits_(std::move(bits)) {
  std::uint64_t count = 0;
  before_.reserve(bits_.size() / block_words + 2);
  for (std::size_t word = 0; word < bits_.size(); ++word) {
    if (word % block_words == 0) before_.push_back(count);
    count += ones(bits_[word]);
  }
  before_.push_back(count);
}

std::uint64_t RowBitmap::operator[](std::uint64_t index) const {
  const auto block =
      static_cast<std::size_t>(std::upper_bound(before_.begin(), before_.end(), index) - before_.begin() - 1);
  auto at = block * block_words;
  for (index -= before_[block]; index >= ones(bits_[at]); ++at) index -= ones(bits_[at]);
  auto word = bits_[at];
  for (; index > 0; --index) word &= word - 1;  // clears the lowest set bit
  return at * word_bits + static_cast<std::uint64_t>(std::countr_zero(word));
}

std::uint64_t RowBitmap::count_below(std::uint64_t row) const {
  const auto last = row / word_bits;
  auto count = before_[last / block_words];
  for (auto word = last / block_words * block_words; word < last; ++word) count += ones(bits_[word]);
  const auto rest = row % word_bits;
  return rest == 0 ? count : count + ones(bits_[last] & ((std::uint64_t{1} << rest) - 1));
}

}  // namespace trainrt::data
