#include "data/records/row_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/records/csv_layout.hpp"
#include "data/text/byte_masks.hpp"

namespace trainrt::data {

namespace {

bool has(std::string_view bytes, char wanted) { return bytes.find(wanted) != bytes.npos; }

/// Finds the rows of a file. The caller passes the bytes of the file to take(), from the beginning to the end.
class RowScanner {
 public:
  RowScanner(const std::string& path, const RowSyntax& syntax, std::uint64_t begin, std::uint64_t spacing)
      : path_(path), syntax_(syntax), scan_{.index = RecordIndex(spacing)}, offset_(begin), header_(syntax.header) {
    scan_.first_begin = scan_.first_end = begin;
  }

  /// Scans the complete rows at the beginning of `text`, and returns their size in bytes. `text` is the part of the file
  /// after the rows that were scanned before. If `is_end` is set, the file ends with `text`, and its last row may lack a
  /// line break. 64 more bytes after `text` must be readable.
  std::size_t take(std::string_view text, bool is_end) {
    if (const auto nul = text.find('\0'); syntax_.has_values() && nul != text.npos) refuse_nul(offset_ + nul);
    const bool quotes = syntax_.quotes && has(text, '"');
    scan_.has_quotes |= quotes;
    const auto begin = offset_;
    if (quotes)
      take_quoted(text, is_end);
    else
      take_plain(text, is_end);
    const auto taken = offset_ - begin;
    if (text.size() - taken > syntax_.max_row_bytes + 1) refuse_length();
    return taken;
  }

  RowScan finish() {
    scan_.index.close({record_, row_, offset_});
    return std::move(scan_);
  }

 private:
  void take_quoted(std::string_view text, bool is_end) {
    while (!text.empty()) {
      const auto end = end_of_row(text, true);
      const bool is_cut = end == text.npos;
      if (is_cut && !is_end) return;
      const auto row = text.substr(0, is_cut ? end : end + 1);
      const auto content = without_break(row);
      if (content.size() > syntax_.max_row_bytes) refuse_length();
      if (is_cut && std::ranges::count(content, '"') % 2 != 0 && !syntax_.has_values())
        bad_row(path_, row_, "the row has a quote that is not closed");
      take_row(row, content.empty() && syntax_.skip_empty ? 0 : count_values(content));
      text.remove_prefix(row.size());
    }
  }

  /// Does the work of take() for a text without quotes. Compares 64 bytes at a time with the line break and the delimiter.
  void take_plain(std::string_view text, bool is_end) {
    std::size_t begin = 0, values = 1;  // of the current row: its offset in `text`, and the number of its values so far
    for (std::size_t at = 0; at < text.size(); at += bytes_per_mask) {
      const auto all = bits_below(static_cast<int>(std::min(text.size() - at, bytes_per_mask)));
      auto delimiters = syntax_.has_values() ? equal_bits(&text[at], syntax_.delimiter) & all : 0;
      for (auto breaks = equal_bits(&text[at], '\n') & all; breaks != 0; breaks &= breaks - 1) {
        const auto bit = std::countr_zero(breaks);
        const auto before = delimiters & bits_below(bit);
        const auto end = at + static_cast<std::size_t>(bit) + 1;
        take_row(text.substr(begin, end - begin), values + static_cast<std::size_t>(std::popcount(before)));
        delimiters &= ~before;
        begin = end;
        values = 1;
      }
      values += static_cast<std::size_t>(std::popcount(delimiters));
    }
    if (is_end && begin < text.size()) take_row(text.substr(begin), values);
  }

  /// Adds the next row of the file, `with_break`, to the result. The row includes its line break and has `values` values.
  void take_row(std::string_view with_break, std::size_t values) {
    const auto row = without_break(with_break);
    if (row.size() > syntax_.max_row_bytes) refuse_length();
    if (!row.empty() || !syntax_.skip_empty) {
      if (scan_.values == 0) {
        scan_.values = values;
        scan_.first_begin = offset_;
        scan_.first_end = offset_ + row.size();
      } else if (values != scan_.values) {
        refuse_count(values);
      }
      if (!header_) scan_.index.add({record_++, row_, offset_});
      header_ = false;
    }
    ++row_;
    offset_ += with_break.size();
  }

  std::size_t count_values(std::string_view row) {
    if (!syntax_.has_values()) return 1;
    const auto delimiter = syntax_.delimiter;
    if (!has(row, '"')) return static_cast<std::size_t>(std::ranges::count(row, delimiter)) + 1;
    std::size_t count = 1;
    const auto *at = row.data(), *const end = at + row.size();
    for (;; ++at, ++count) try {
        const auto value = csv_value(at, end, delimiter, true, scratch_);
        if (at != end && *at != '"' && has(value.text, '"')) refuse_quote(value.text);
        at = value.end;
        if (at == end) return count;
      } catch (const UsageError& error) {
        bad_row(path_, row_, error.what());
      }
  }

  [[noreturn]] void refuse_count(std::size_t values) const {
    bad_row(path_, row_,
            fmt::format("it has {}, but the first row has {}; values are separated by '{}'",
                        counted(static_cast<std::int64_t>(values), "value"), scan_.values,
                        syntax_.delimiter == '\t' ? std::string("tab") : std::string(1, syntax_.delimiter)));
  }

  [[noreturn]] void refuse_length() const {
    bad_row(path_, row_,
            fmt::format("it is longer than {} bytes (max_record_bytes){}", syntax_.max_row_bytes,
                        scan_.has_quotes ? "; perhaps a quote is not closed" : "; increase this key if the row is valid"));
  }

  [[noreturn]] void refuse_nul(std::uint64_t at) const {
    throw UsageError(
        fmt::format("'{}': byte {} is a NUL, so the file is not UTF-8 text; if it is UTF-16, convert it", path_, at));
  }

  const std::string& path_;
  RowSyntax syntax_;
  RowScan scan_;
  std::uint64_t offset_;                ///< offset of the current row
  std::uint64_t record_ = 0, row_ = 0;  ///< numbers of the current record and row, from 0
  bool header_;
  std::string scratch_;
};

/// Returns the length of the byte order mark at the beginning of the file, or 0.
std::uint64_t mark_bytes(const InputFile& file) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  std::array<char, mark.size()> first{};
  if (file.size() < first.size()) return 0;
  file.read(0, std::as_writable_bytes(std::span(first)));
  return std::string_view(first.data(), first.size()) == mark ? mark.size() : 0;
}

}  // namespace

RowScan scan_rows(const InputFile& file, const RowSyntax& syntax, std::uint64_t spacing) {
  constexpr std::uint64_t piece_bytes = 512 << 10;
  const auto begin = mark_bytes(file);
  RowScanner scanner(file.path(), syntax, begin, spacing);
  std::vector<char> text;  // begins with the `kept` bytes of an incomplete row, which take() has not scanned yet
  std::size_t kept = 0;
  for (auto at = begin; at < file.size();) {
    const auto bytes = static_cast<std::size_t>(std::min(piece_bytes, file.size() - at));
    text.resize(std::max(text.size(), kept + bytes + bytes_per_mask));
    file.read(at, std::as_writable_bytes(std::span(text).subspan(kept, bytes)));
    at += bytes;
    const auto taken = scanner.take({text.data(), kept + bytes}, at == file.size());
    kept += bytes - taken;
    std::memmove(text.data(), text.data() + taken, kept);
  }
  return scanner.finish();
}

std::size_t end_of_row(std::string_view text, bool quotes) {
  auto end = text.find('\n');
  if (!quotes) return end;
  bool inside = false;
  for (std::size_t from = 0; end != text.npos; from = end + 1, end = text.find('\n', from)) {
    inside ^= std::ranges::count(text.substr(from, end - from), '"') % 2 != 0;
    if (!inside) return end;
  }
  return end;
}

void bad_row(const std::string& path, std::uint64_t row, const std::string& why) {
  throw UsageError(fmt::format("'{}', row {}: {}", path, row + 1, why));
}

}  // namespace trainrt::data
