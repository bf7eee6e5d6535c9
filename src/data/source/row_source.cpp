#include "data/source/row_source.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

RowReader rows_in_file(std::shared_ptr<const InputFile> file, const RowLayout& layout, bool keep) {
  if (layout.offset > file->size() || layout.bytes() > file->size() - layout.offset)
    throw UsageError(
        fmt::format("'{}' is truncated: it has {} bytes, but its header declares {} rows of {} bytes, beginning at byte {}",
                    file->path(), file->size(), layout.rows, layout.row_bytes, layout.offset));
  if (!keep && layout.bytes() > 0)
    return {[file = std::move(file), layout](auto rows, auto* out) { read_rows(*file, layout, rows, out); }};
  std::vector<std::byte> all(layout.bytes());
  file->read(layout.offset, all);
  swap_values(all, layout.swapped);
  return rows_in_memory(std::move(all), layout.row_bytes);
}

RowReader rows_in_memory(std::vector<std::byte> rows, std::size_t row_bytes) {
  return {.read = [all = std::make_shared<const std::vector<std::byte>>(std::move(rows)), row_bytes](
                      auto numbers, auto* out) { copy_rows(*all, row_bytes, numbers, out); },
          .is_resident = true};
}

void RowSource::add(Dataset::Field field, RowReader rows) {
  fields_.push_back(std::move(field));
  rows_.push_back(std::move(rows));
}

void RowSource::add(Dataset::Field field, std::vector<std::byte> rows) {
  const auto bytes = sample_bytes(field);
  if (rows.size() != size_ * bytes)
    throw Error(
        fmt::format("field '{}' has {} bytes, but {} samples of {} bytes were found when its file was listed: "
                    "the file was changed; restore it, or start again",
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

void read_rows(const InputFile& file, const RowLayout& layout, std::span<const std::uint64_t> rows, std::byte* out) {
  std::vector<FilePart> parts;
  parts.reserve(rows.size());
  auto* to = out;
  for (std::size_t at = 0; at < rows.size();) {
    std::size_t count = 1;
    while (at + count < rows.size() && rows[at + count] == rows[at] + count) ++count;
    parts.push_back({layout.offset + rows[at] * layout.row_bytes, {to, count * layout.row_bytes}});
    to += count * layout.row_bytes;
    at += count;
  }
  file.read(parts);
  swap_values({out, rows.size() * layout.row_bytes}, layout.swapped);
}

std::vector<std::size_t> in_row_order(std::span<const std::uint64_t> rows) {
  std::vector<std::size_t> indices(rows.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (!std::ranges::is_sorted(rows)) std::ranges::sort(indices, {}, [&](std::size_t index) { return rows[index]; });
  return indices;
}

void copy_rows(std::span<const std::byte> all, std::size_t row_bytes, std::span<const std::uint64_t> rows, std::byte* out) {
  gather(
      rows.size(), row_bytes, [&](std::size_t i) { return all.data() + rows[i] * row_bytes; }, out);
}

void copy_samples(const Column& all, const Dataset::Field& field, std::span<const std::uint64_t> samples, Column& out) {
  out.clear();
  if (field.varies) {
    for (const auto sample : samples) out.append(all.varying(sample));
    return;
  }
  out.values.resize(samples.size() * sample_bytes(field));
  copy_rows(all.values, sample_bytes(field), samples, out.values.data());
}

void swap_values(std::span<std::byte> values, std::size_t value_bytes) {
  if (value_bytes <= 1) return;
  for (std::size_t at = 0; at + value_bytes <= values.size(); at += value_bytes)
    std::reverse(values.data() + at, values.data() + at + value_bytes);
}

}  // namespace trainrt::data
