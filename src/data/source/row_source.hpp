#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/source/row_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// A source with fields of fixed length. Its samples are rows of files or of memory, or are computed.
class RowSource final : public Source {
 public:
  explicit RowSource(std::uint64_t samples) : size_(samples) {}
  /// Adds a field with `samples` rows.
  void add(Dataset::Field field, RowReader rows);
  /// Adds a field with rows in memory. Throws Error if `rows` has not the size of `samples` rows.
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

}  // namespace trainrt::data
