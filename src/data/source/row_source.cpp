#include "data/source/row_source.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

void RowSource::add(Dataset::Field field, std::unique_ptr<RowFile> rows) {
  fields_.push_back(std::move(field));
  rows_.push_back({std::move(rows), {}});
}

void RowSource::add(Dataset::Field field, std::vector<std::byte> rows) {
  if (rows.size() != size_ * sample_bytes(field))
    throw Error(
        fmt::format("the field '{}' was found with {} samples, and its values are {} bytes now: its file was changed",
                    field.name, size_, rows.size()));
  fields_.push_back(std::move(field));
  rows_.push_back({nullptr, std::move(rows)});
}

void RowSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns) {
    const auto bytes = sample_bytes(fields_[column.field]);
    column.values.resize(samples.size() * bytes);
    const auto& rows = rows_[column.field];
    if (rows.in_file)
      rows.in_file->read(samples, column.values.data());
    else
      copy_rows(rows.in_memory, bytes, samples, column.values.data());
  }
}

bool RowSource::is_resident() const {
  return std::ranges::all_of(rows_, [](const Rows& rows) { return !rows.in_file || rows.in_file->is_resident(); });
}

}  // namespace trainrt::data
