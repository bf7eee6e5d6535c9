#pragma once
#include <cstdint>
#include <vector>

namespace trainrt::data {

/// A subset of the rows of a source, in ascending order. Needs one bit of memory per row, and one count per 512 rows, by
/// which a binary search finds an element.
class RowBitmap {
 public:
  static constexpr std::uint64_t word_bits = 64;

  /// Row r is in the subset if bit r % 64 of word r / 64 is set.
  explicit RowBitmap(std::vector<std::uint64_t> bits);

  std::uint64_t size() const { return before_.back(); }  ///< number of rows in the subset
  std::uint64_t operator[](std::uint64_t index) const;   ///< element `index` < size() of the subset, a row of the source
  std::uint64_t count_below(std::uint64_t row) const;    ///< number of rows of the subset that are less than `row`
  const std::vector<std::uint64_t>& bits() const { return bits_; }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint64_t> before_;  ///< for each block of words, the number of set bits before it; last, the total
};

}  // namespace trainrt::data
