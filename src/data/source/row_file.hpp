#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/bytes/input_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Random access to the rows of a field by their numbers. All rows have the same size.
struct RowReader {
  /// Writes the rows with these numbers, one after another, to `out`. Any threads may call it at the same time. Throws
  /// Error, with the file and the reason.
  std::function<void(std::span<const std::uint64_t> rows, std::byte* out)> read;
  bool is_resident = false;  ///< whether all rows are in memory
};

/// Position of the rows of a field in a file: one after another, all of the same size.
struct RowLayout {
  std::uint64_t offset = 0;  ///< offset of the first row, in bytes
  std::uint64_t rows = 0;
  std::size_t row_bytes = 0;
  std::size_t swapped = 1;  ///< size of a value if the byte order of each value must be reversed; else 1

  std::uint64_t bytes() const { return rows * row_bytes; }
};

/// Returns a reader of rows in a file. Several fields can share `file`. `keep`: reads all rows into memory now. Throws
/// UsageError if the file is too short for the rows.
RowReader rows_in_file(std::shared_ptr<const InputFile> file, const RowLayout& layout, bool keep);

/// Returns a reader of `rows`, which are rows of `row_bytes` bytes in memory.
RowReader rows_in_memory(std::vector<std::byte> rows, std::size_t row_bytes);

/// Reads the rows with these numbers from `file` and writes them, one after another, to `out`. Consecutive rows form
/// one part of the read. One call requests all parts.
void read_rows(const InputFile& file, const RowLayout& layout, std::span<const std::uint64_t> rows, std::byte* out);

/// Copies the rows with these numbers, one after another, from `all` to `out`.
void copy_rows(std::span<const std::byte> all, std::size_t row_bytes, std::span<const std::uint64_t> rows, std::byte* out);

/// Copies the samples with these numbers from `all`, a column of the field `field`, to `out`, in this order.
void copy_samples(const Column& all, const Dataset::Field& field, std::span<const std::uint64_t> samples, Column& out);

/// Reverses the byte order of each value, of `value_bytes` bytes.
void swap_values(std::span<std::byte> values, std::size_t value_bytes);

}  // namespace trainrt::data
