#include "data/source/row_source.hpp"

#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

void RowSource::add(Dataset::Field field, RowReader rows) {
  fields_.push_back(std::move(field));
  rows_.push_back(std::move(rows));
}

void RowSource::add(Dataset::Field field, std::vector<std::byte> rows) {
  const auto bytes = sample_bytes(field);
  if (rows.size() != size_ * bytes)
    throw Error(
        fmt::format("field '{}' has {} bytes, but {} samples of {} bytes were found when its file was listed: "
                    "the file was changed",
                    field.name, rows.size(), size_, bytes));
  add(std::move(field), rows_in_memory(std::move(rows), bytes));
}

void RowSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns) {
    column.ends.clear();
    column.values.resize(samples.size() * sample_bytes(fields_[column.field]));
    rows_[column.field].read(samples, column.values.data());
  }
}

}  // namespace trainrt::data
