#include "data/source/row_file.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

RowFile::RowFile(std::shared_ptr<const InputFile> file, const RowLayout& place, bool keep)
    : file_(std::move(file)), place_(place) {
  if (place.offset > file_->size() || place.bytes() > file_->size() - place.offset)
    throw UsageError(fmt::format("'{}' is truncated: {} rows of {} bytes are to begin at byte {}, and it has {} bytes",
                                 file_->path(), place.rows, place.row_bytes, place.offset, file_->size()));
  if (!keep) return;
  std::vector<std::byte> all(place.bytes());
  file_->read(place.offset, all);
  swap_values(all, place.swapped);
  kept_ = std::move(all);
}

void RowFile::read(std::span<const std::uint64_t> rows, std::byte* out) const {
  const auto bytes = place_.row_bytes;
  if (bytes == 0) return;  // an axis without extent: there is no memory on either side
  if (!kept_.empty()) return copy_rows(kept_, bytes, rows, out);
  read_rows(*file_, place_, rows, out);
}

void read_rows(const InputFile& file, const RowLayout& place, std::span<const std::uint64_t> rows, std::byte* out) {
  std::vector<FilePart> parts;
  parts.reserve(rows.size());
  auto* to = out;
  for (std::size_t at = 0; at < rows.size();) {
    std::size_t count = 1;
    while (at + count < rows.size() && rows[at + count] == rows[at] + count) ++count;
    parts.push_back({place.offset + rows[at] * place.row_bytes, {to, count * place.row_bytes}});
    to += count * place.row_bytes;
    at += count;
  }
  file.read(parts);
  swap_values({out, rows.size() * place.row_bytes}, place.swapped);
}

void copy_rows(std::span<const std::byte> all, std::size_t row_bytes, std::span<const std::uint64_t> rows, std::byte* out) {
  if (row_bytes == 0) return;
  for (const auto row : rows) {
    std::memcpy(out, all.data() + row * row_bytes, row_bytes);
    out += row_bytes;
  }
}

void swap_values(std::span<std::byte> values, std::size_t value_bytes) {
  if (value_bytes <= 1) return;
  for (std::size_t at = 0; at + value_bytes <= values.size(); at += value_bytes)
    std::reverse(values.data() + at, values.data() + at + value_bytes);
}

}  // namespace trainrt::data
