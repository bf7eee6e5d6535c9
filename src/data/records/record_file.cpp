#include "data/records/record_file.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/source/source.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t max_bytes_at_once = 256 << 10;
constexpr std::size_t padding = 64;

}  // namespace

void RecordFile::read(std::span<const std::uint64_t> ascending, const Take& take) const {
  std::unique_ptr<char[]> buffer;
  std::uint64_t capacity = 0;
  for (std::size_t at = 0; at < ascending.size();) {
    const auto piece = piece_of(ascending.subspan(at));
    const auto bytes = piece.end - piece.begin.offset;
    if (bytes > capacity) buffer = std::make_unique_for_overwrite<char[]>((capacity = bytes) + padding);
    std::fill_n(buffer.get() + bytes, padding, '\0');
    file_->read(piece.begin.offset, std::as_writable_bytes(std::span(buffer.get(), bytes)));
    note(walk(piece, {buffer.get(), bytes}, ascending.subspan(at, piece.records), at, take));
    at += piece.records;
  }
}

void RecordFile::read_first(std::uint64_t count, const Take& take) const {
  constexpr std::uint64_t max_at_once = 4096;
  for (std::uint64_t first = 0; first < count; first += max_at_once)
    read(consecutive(first, std::min(max_at_once, count - first)),
         [&](const Record& record, std::size_t index) { take(record, first + index); });
}

std::uint64_t RecordFile::records_within(std::uint64_t max, std::uint64_t bytes) const {
  max = std::min(max, size());
  if (max == 0) return 0;
  std::size_t span = 0;
  while (index_.end_of(span).record < max && index_.end_of(span).offset < bytes) ++span;
  return std::min(max, index_.end_of(span).record);
}

/// Returns a range of the file to be read at once, which contains the first records of `ascending`. The range ends before
/// a gap: consecutive records of the range are in the same span of the index, or in two neighbouring spans.
RecordFile::Piece RecordFile::piece_of(std::span<const std::uint64_t> ascending) const {
  Piece piece{nearest_begin(ascending.front()), 0, 0};
  auto span = index_.span_of(ascending.front());
  for (; piece.records < ascending.size(); ++piece.records) {
    const auto record = ascending[piece.records];
    if (record >= index_.end_of(span).record) {
      const auto next = index_.span_of(record);
      if (next != span + 1 || index_.end_of(next).offset - piece.begin.offset > max_bytes_at_once) break;
      span = next;
    }
  }
  piece.end = index_.end_of(span).offset;
  return piece;
}

/// Finds the records `wanted` in `text`, the bytes of the range `piece`, and passes them to `take`. Returns the position
/// after the last of these records.
RecordIndex::Entry RecordFile::walk(const Piece& piece, std::string_view text, std::span<const std::uint64_t> wanted,
                                    std::size_t first_index, const Take& take) const {
  auto at = piece.begin;
  for (std::size_t i = 0; i < wanted.size(); ++at.row) {
    const auto end = std::min(end_of_row(text, quotes_), text.size());
    if (text.empty())
      throw Error(fmt::format(
          "'{}' was changed while it was in use: it has fewer records than before; restore it, or start again", path()));
    const auto length = std::min(end + 1, text.size());
    const auto row = text.substr(0, length);
    text.remove_prefix(length);
    at.offset += length;
    const auto record = without_break(row);
    if (record.empty() && skip_empty_) continue;
    if (at.record++ == wanted[i]) take({record, at.row}, first_index + i++);
  }
  return at;
}

RecordIndex::Entry RecordFile::nearest_begin(std::uint64_t record) const {
  auto nearest = index_.begin_of(index_.span_of(record));
  const std::lock_guard lock(mutex_);
  for (const auto& known : recent_)
    if (known.record <= record && known.offset > nearest.offset) nearest = known;
  return nearest;
}

void RecordFile::note(const RecordIndex::Entry& end) const {
  const std::lock_guard lock(mutex_);
  recent_[next_recent_++ % recent_.size()] = end;
}

}  // namespace trainrt::data
