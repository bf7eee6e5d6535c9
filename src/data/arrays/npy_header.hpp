#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <trainrt/tensor.hpp>

#include "data/bytes/input_file.hpp"
#include "data/source/row_file.hpp"

namespace trainrt::data {

/// What stands in front of the values of a .npy file (NEP 1, versions 1.0, 2.0 and 3.0): an array of numbers, its values in
/// C order, its first axis that of the samples.
struct NpyHeader {
  char kind = 'f';  ///< f, i, u or b, as NumPy calls them
  std::size_t value_bytes = 0;
  bool is_big_endian = false;
  Shape shape;  ///< [samples, sample shape...]
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;

  std::uint64_t samples() const { return static_cast<std::uint64_t>(shape.front()); }
  Shape sample_shape() const { return {shape.begin() + 1, shape.end()}; }
  std::size_t swapped() const { return is_big_endian ? value_bytes : 1; }
  /// Where its rows lie in a file, if the header stands at `offset`.
  RowLayout place_at(std::uint64_t offset) const;
};

/// So many first bytes hold the header of every array that can be read.
inline constexpr std::size_t npy_beginning = 16 << 10;

/// The header in the first bytes of a file of `size` bytes: npy_beginning of them, or all if it has less. Throws UsageError
/// that begins with `what` and says what is wrong and what is valid: also if the array's values are not exactly the rest of
/// the file.
NpyHeader npy_header(std::span<const std::byte> beginning, std::uint64_t size, const std::string& what);
/// The header of a file.
NpyHeader npy_header(const InputFile& file);

/// The type of its values. Throws UsageError that begins with `what` if there is none: unsigned integers of more than 8
/// bits.
DType dtype_of_npy(const NpyHeader& header, const std::string& what);

}  // namespace trainrt::data
