#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// Position of the rows of a field in a file: one after another, all of the same size.
struct RowLayout {
  std::uint64_t offset = 0;  ///< offset of the first row, in bytes
  std::uint64_t rows = 0;
  std::size_t row_bytes = 0;
  std::size_t swapped = 1;  ///< size of a value if the byte order of each value must be reversed; else 1

  std::uint64_t bytes() const { return rows * row_bytes; }
};

/// The rows of a field, read from a file or kept in memory. Thread-safe.
class RowFile {
 public:
  /// Several fields can share `file`. `keep`: the constructor reads all rows into memory. Throws UsageError if the file is
  /// too short for the rows.
  RowFile(std::shared_ptr<const InputFile> file, const RowLayout& layout, bool keep);
  /// Keeps `rows`, which are rows of `row_bytes` bytes, in memory.
  RowFile(std::vector<std::byte> rows, std::size_t row_bytes);
  bool is_resident() const { return !kept_.empty() || layout_.bytes() == 0; }
  /// Writes the rows with these numbers, one after another, to `out`. Consecutive rows are read as one part.
  void read(std::span<const std::uint64_t> rows, std::byte* out) const;

 private:
  std::shared_ptr<const InputFile> file_;
  RowLayout layout_;
  std::vector<std::byte> kept_;
};

/// Reads the rows with these numbers from `file` and writes them, one after another, to `out`. Consecutive rows form
/// one part of the read. One call requests all parts.
void read_rows(const InputFile& file, const RowLayout& layout, std::span<const std::uint64_t> rows, std::byte* out);

/// Copies the rows with these numbers, one after another, from `all` to `out`.
void copy_rows(std::span<const std::byte> all, std::size_t row_bytes, std::span<const std::uint64_t> rows, std::byte* out);

/// Reverses the byte order of each value, of `value_bytes` bytes.
void swap_values(std::span<std::byte> values, std::size_t value_bytes);

}  // namespace trainrt::data
