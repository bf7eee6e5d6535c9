#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/bytes/input_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Random access to the rows of a field by index. All rows have the same size.
struct RowReader {
  /// Writes the rows with the indices `rows`, one after another, to `out`. Several threads may call `read` at the same
  /// time. Throws Error, with the file and the reason.
  std::function<void(std::span<const std::uint64_t> rows, std::byte* out)> read;
  bool is_resident = false;  ///< whether all rows are in memory
};

/// Position of a field's rows in a file. The rows are contiguous and have the same size.
struct RowLayout {
  std::uint64_t offset = 0;  ///< offset of the first row, in bytes
  std::uint64_t rows = 0;
  std::size_t row_bytes = 0;
  std::size_t swapped = 1;  ///< size of a value if the byte order of each value must be reversed; 1 if not

  std::uint64_t bytes() const { return rows * row_bytes; }
};

/// Returns a reader of rows in a file. Several fields can share `file`. If `keep` is true, reads all rows into memory
/// immediately. Throws UsageError if the file is too short for the rows.
RowReader rows_in_file(std::shared_ptr<const InputFile> file, const RowLayout& layout, bool keep);

/// Returns a reader of `rows`, which are rows of `row_bytes` bytes in memory.
RowReader rows_in_memory(std::vector<std::byte> rows, std::size_t row_bytes);

/// A source with fields of fixed length. The samples are rows in files or in memory, or are computed.
class RowSource final : public Source {
 public:
  explicit RowSource(std::uint64_t samples) : size_(samples) {}
  /// Adds a field with `samples` rows.
  void add(Dataset::Field field, RowReader rows);
  /// Adds a field with rows in memory. Throws Error if `rows` does not have the size of `samples` rows.
  void add(Dataset::Field field, std::vector<std::byte> rows);

  std::uint64_t size() const override { return size_; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  bool is_resident() const override { return std::ranges::all_of(rows_, &RowReader::is_resident); }

 private:
  std::uint64_t size_;
  std::vector<Dataset::Field> fields_;
  std::vector<RowReader> rows_;
};

/// Reads the rows with the indices `rows` from `file` and writes them, one after another, to `out`. Requests all rows by
/// one call of `file`, and consecutive rows as one byte range.
void read_rows(const InputFile& file, const RowLayout& layout, std::span<const std::uint64_t> rows, std::byte* out);

/// Returns the positions 0 to rows.size() - 1, sorted by the row index that `rows` has at the position.
std::vector<std::size_t> in_row_order(std::span<const std::uint64_t> rows);

/// Copies `count` values of `bytes` bytes each, one after another, to `out`. `value(i)` returns the address of value `i`.
/// Prefetches later values before it copies a value, so that the accesses to memory overlap.
template <class Address>
void gather(std::size_t count, std::size_t bytes, const Address& value, std::byte* out) {
  constexpr std::size_t ahead = 4;                               // number of values that are loaded ahead
  constexpr std::size_t cache_line = 64, max_prefetched = 1024;  // bytes
  for (std::size_t i = 0; i < count && bytes > 0; ++i, out += bytes) {
    for (std::size_t at = 0; i + ahead < count && at < std::min(bytes, max_prefetched); at += cache_line)
      __builtin_prefetch(value(i + ahead) + at);
    std::memcpy(out, value(i), bytes);
  }
}

/// Copies the rows with the indices `rows`, one after another, from `all` to `out`.
void copy_rows(std::span<const std::byte> all, std::size_t row_bytes, std::span<const std::uint64_t> rows, std::byte* out);

/// Copies the samples with the indices `samples` from `all`, a column of the field `field`, to `out`, in this order.
void copy_samples(const Column& all, const Dataset::Field& field, std::span<const std::uint64_t> samples, Column& out);

/// Reverses the byte order of each value, of `value_bytes` bytes.
void swap_values(std::span<std::byte> values, std::size_t value_bytes);

}  // namespace trainrt::data
