#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <trainrt/tensor.hpp>

#include "data/bytes/input_file.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data {

/// The dictionary in the header of a .npy file.
struct NpyDict {
  std::string descr;           ///< type of a value: "<f4"
  bool is_structured = false;  ///< whether the type is a list of fields; if so, the other members are not set
  bool fortran_order = false;
  Shape shape;
};

/// Parses the text of a Python dictionary that must have exactly the keys descr, fortran_order and shape, in any order.
/// The text is never evaluated as Python. Throws UsageError, which begins with `what`, the name of the array, for any other
/// text.
NpyDict parse_npy_dict(std::string_view text, const std::string& what);

/// The header of a .npy file (NEP 1, versions 1.0, 2.0 and 3.0): an array of numbers in C order. The first axis of the
/// array counts the samples.
struct NpyHeader {
  char kind = 'f';  ///< f, i, u or b, as in NumPy
  std::size_t value_bytes = 0;
  bool is_big_endian = false;
  Shape shape;  ///< [samples, sample shape...]
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;

  std::uint64_t samples() const { return static_cast<std::uint64_t>(shape.front()); }
  Shape sample_shape() const { return {shape.begin() + 1, shape.end()}; }
  /// Returns the number of bytes per value that swap_values() must reverse; 1 if the values have this machine's byte
  /// order.
  std::size_t swapped() const { return is_big_endian ? value_bytes : 1; }
  /// Returns the position of the array's rows in a file in which this header begins at byte `offset`.
  RowLayout place_at(std::uint64_t offset) const;
};

/// Number of bytes to read from the beginning of a file to parse its header. Arrays with a longer header are refused.
inline constexpr std::size_t npy_beginning = 16 << 10;

/// Parses the header of a file of `size` bytes. `beginning` has the first `npy_beginning` bytes of the file, or all bytes
/// of a smaller file. Throws UsageError, which begins with `what`, if the header is invalid, or if the values of the array
/// do not end exactly at the end of the file.
NpyHeader npy_header(std::span<const std::byte> beginning, std::uint64_t size, const std::string& what);
/// Reads the header of `file`.
NpyHeader npy_header(const InputFile& file);

/// Returns the type of the values. Throws UsageError, which begins with `what`, for unsigned integers of more than 8 bits,
/// because train functions do not support them.
DType dtype_of_npy(const NpyHeader& header, const std::string& what);

}  // namespace trainrt::data
