#pragma once
#include <cstdint>
#include <vector>

namespace trainrt::data {

/// Some of the rows of a source, in their order: a bit a row and a count a block, whatever part of them is kept.
class RowBitmap {
 public:
  static constexpr std::uint64_t word_bits = 64;

  /// A set bit keeps the row: bit r % 64 of word r / 64.
  explicit RowBitmap(std::vector<std::uint64_t> bits);

  std::uint64_t size() const { return before_.back(); }
  /// The row at place `at` < size().
  std::uint64_t operator[](std::uint64_t at) const;
  /// Those of them that are below `row`.
  std::uint64_t below(std::uint64_t row) const;
  const std::vector<std::uint64_t>& bits() const { return bits_; }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint64_t> before_;  ///< kept rows before each block of words, and all at the end
};

}  // namespace trainrt::data
