#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// Where the rows of a field lie in a file: one after another, each of the same size.
struct RowLayout {
  std::uint64_t offset = 0;
  std::uint64_t rows = 0;
  std::size_t row_bytes = 0;
  std::size_t swapped = 1;  ///< bytes of a value whose order is to be turned round; 1: of none

  std::uint64_t bytes() const { return rows * row_bytes; }
};

/// Rows of a file, read at their places, or kept in memory. Any threads may read at once.
class RowFile {
 public:
  /// `file` is shared by the fields that lie in it. `keep`: all rows are read now. Throws UsageError if the file is too
  /// short for the rows.
  RowFile(std::shared_ptr<const InputFile> file, const RowLayout& place, bool keep);
  bool is_resident() const { return !kept_.empty() || place_.bytes() == 0; }
  /// The rows with these numbers, one after another; `out` has room for all. Neighbours are read in one piece.
  void read(std::span<const std::uint64_t> rows, std::byte* out) const;

 private:
  std::shared_ptr<const InputFile> file_;
  RowLayout place_;
  std::vector<std::byte> kept_;
};

/// Reads the rows with these numbers, one after another; neighbours in one piece, and all pieces at once.
void read_rows(const InputFile& file, const RowLayout& place, std::span<const std::uint64_t> rows, std::byte* out);

/// Copies the rows with these numbers out of memory, one after another.
void copy_rows(std::span<const std::byte> all, std::size_t row_bytes, std::span<const std::uint64_t> rows, std::byte* out);

/// Turns the bytes of each value round.
void swap_values(std::span<std::byte> values, std::size_t value_bytes);

}  // namespace trainrt::data
