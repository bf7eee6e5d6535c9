#include "data/source/row_file.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

RowFile::RowFile(std::shared_ptr<const InputFile> file, const RowLayout& layout, bool keep)
    : file_(std::move(file)), layout_(layout) {
  if (layout.offset > file_->size() || layout.bytes() > file_->size() - layout.offset)
    throw UsageError(
        fmt::format("'{}' is truncated: it has {} bytes, but its header declares {} rows of {} bytes, beginning at byte {}",
                    file_->path(), file_->size(), layout.rows, layout.row_bytes, layout.offset));
  if (!keep) return;
  std::vector<std::byte> all(layout.bytes());
  file_->read(layout.offset, all);
  swap_values(all, layout.swapped);
  kept_ = std::move(all);
}

RowFile::RowFile(std::vector<std::byte> rows, std::size_t row_bytes)
    : layout_{.rows = row_bytes == 0 ? 0 : rows.size() / row_bytes, .row_bytes = row_bytes}, kept_(std::move(rows)) {}

void RowFile::read(std::span<const std::uint64_t> rows, std::byte* out) const {
  if (layout_.row_bytes == 0) return;  // `out` may be nullptr
  if (!kept_.empty()) return copy_rows(kept_, layout_.row_bytes, rows, out);
  read_rows(*file_, layout_, rows, out);
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
