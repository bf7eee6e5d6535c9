#include "data/records/row_scan.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/read_ahead.hpp"
#include "data/text/byte_masks.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t block_bytes = 256 << 10;
constexpr std::size_t chunk_bytes = 64;

bool has(std::string_view bytes, char wanted) { return bytes.find(wanted) != bytes.npos; }

/// A block of a file, and the positions of its line breaks and delimiters. Blocks are scanned in parallel, because these
/// positions do not depend on the blocks before.
struct Block {
  /// The positions of line breaks and delimiters in 64 bytes, with one bit for each byte.
  struct Chunk {
    std::uint64_t breaks = 0, splits = 0;
  };
  std::vector<char> buffer;  ///< the bytes of the block, and 64 more
  std::vector<Chunk> chunks;
  bool is_plain = false;  ///< the block has neither quotes nor NULs

  std::string_view text() const { return {buffer.data(), buffer.size() - chunk_bytes}; }

  void read(const InputFile& file, std::uint64_t offset, std::size_t count, const RowSyntax& syntax) {
    buffer.resize(count + chunk_bytes);
    file.read(offset, std::as_writable_bytes(std::span(buffer).first(count)));
    chunks.resize((count + chunk_bytes - 1) / chunk_bytes);
    for (std::size_t at = 0; at < count; at += chunk_bytes) {
      const auto all = bits_below(static_cast<int>(std::min(count - at, chunk_bytes)));
      auto& chunk = chunks[at / chunk_bytes];
      chunk.breaks = equal_bits(&buffer[at], '\n') & all;
      chunk.splits = syntax.has_values() ? equal_bits(&buffer[at], syntax.delimiter) & all : 0;
    }
    is_plain = !has(text(), '\0') && !has(text(), '"');
  }
};

/// Finds the rows of a file from its scanned blocks, which it must get in their order.
class RowScanner {
 public:
  RowScanner(const InputFile& file, const RowSyntax& syntax, std::uint64_t begin, std::uint64_t spacing)
      : file_(file), syntax_(syntax), scan_{.index = RecordIndex(spacing)}, header_(syntax.header) {
    offset_ = row_begin_ = scan_.first_begin = scan_.first_end = begin;
  }

  void take(const Block& block) {
    const auto text = block.text();
    if (!block.is_plain && syntax_.has_values() && has(text, '\0')) refuse_nul(text.find('\0'));
    const bool quotes = syntax_.quotes && (inside_ || (!block.is_plain && has(text, '"')));
    scan_.has_quotes |= quotes;
    for (std::size_t at = 0; at < text.size(); at += chunk_bytes) {
      const auto valid = static_cast<int>(std::min(text.size() - at, chunk_bytes));
      const auto& [breaks, splits] = block.chunks[at / chunk_bytes];
      if (quotes)
        take_chunk<true>(&text[at], valid, breaks, splits);
      else
        take_chunk<false>(&text[at], valid, breaks, splits);
    }
  }

  RowScan finish() {
    if (inside_) bad_row(file_.path(), row_, "a quote is not closed before the end of the file");
    if (row_begin_ < offset_) end_row(offset_, 0, previous_);
    scan_.index.close({record_, row_, offset_});
    return std::move(scan_);
  }

 private:
  template <bool quotes>
  void take_chunk(const char* bytes, int valid, std::uint64_t breaks, std::uint64_t splits) {
    if constexpr (quotes) clear_quoted(bytes, bits_below(valid), breaks, splits);
    while (breaks != 0) {
      const int bit = std::countr_zero(breaks);
      const auto before = splits & bits_below(bit);
      end_row(offset_ + static_cast<std::uint64_t>(bit), static_cast<std::size_t>(std::popcount(before)),
              bit > 0 ? bytes[bit - 1] : previous_);
      row_begin_ = offset_ + static_cast<std::uint64_t>(bit) + 1;
      splits &= ~before;
      breaks &= breaks - 1;
    }
    row_splits_ += static_cast<std::size_t>(std::popcount(splits));
    previous_ = bytes[valid - 1];
    offset_ += static_cast<std::uint64_t>(valid);
    if (offset_ - row_begin_ > syntax_.max_row_bytes + 1) refuse_length();
  }

  /// Clears the bits of line breaks and delimiters that are inside quotes. Throws UsageError for a quote that neither
  /// begins nor ends a value.
  void clear_quoted(const char* bytes, std::uint64_t all, std::uint64_t& breaks, std::uint64_t& splits) {
    const auto quotes = equal_bits(bytes, '"') & all;
    const auto inside = parity_up_to(quotes) ^ (inside_ ? ~std::uint64_t{0} : 0);
    const auto opens = quotes & inside, closes = quotes & ~inside;
    const auto ends = breaks | splits | quotes;
    const auto returns = equal_bits(bytes, '\r') & all;
    const auto bad = (opens & ~(ends << 1 | std::uint64_t{may_open_})) |
                     (((closes << 1) | std::uint64_t{has_closed_}) & all & ~(ends | returns));
    breaks &= ~inside;
    splits &= ~inside;
    if (bad != 0) refuse_quote(bytes, std::countr_zero(bad), std::popcount(all), breaks);
    const auto last = std::uint64_t{1} << (std::popcount(all) - 1);
    inside_ = (inside & last) != 0;
    has_closed_ = (closes & last) != 0;
    may_open_ = (ends & last) != 0;
  }

  void end_row(std::uint64_t end, std::size_t splits, char before) {
    const auto length = end - row_begin_;
    const auto values = row_splits_ + splits + 1;
    row_splits_ = 0;
    if (length > syntax_.max_row_bytes) refuse_length();
    const bool is_empty = length == 0 || (length == 1 && before == '\r');
    if (is_empty && syntax_.skip_empty) {
      ++row_;
      return;
    }
    if (scan_.values == 0) {
      scan_.values = values;
      scan_.first_begin = row_begin_;
      scan_.first_end = end;
    } else if (values != scan_.values) {
      refuse_count(values);
    }
    if (!header_) scan_.index.add({record_++, row_, row_begin_});
    header_ = false;
    ++row_;
  }

  [[noreturn]] void refuse_count(std::size_t values) const {
    bad_row(file_.path(), row_,
            fmt::format("it has {}, but the first row has {}; values are separated by '{}'",
                        counted(static_cast<std::int64_t>(values), "value"), scan_.values,
                        syntax_.delimiter == '\t' ? std::string("tab") : std::string(1, syntax_.delimiter)));
  }

  [[noreturn]] void refuse_length() const {
    bad_row(file_.path(), row_,
            fmt::format("it is longer than {} bytes (max_record_bytes){}", syntax_.max_row_bytes,
                        inside_ ? ": a quote in it is not closed" : ""));
  }

  [[noreturn]] void refuse_nul(std::size_t at) const {
    throw UsageError(fmt::format("'{}': byte {} is a NUL, so the file is not UTF-8 text; if it is UTF-16, convert it",
                                 file_.path(), offset_ + at));
  }

  [[noreturn]] void refuse_quote(const char* bytes, int bit, int valid, std::uint64_t breaks) const {
    const auto row = row_ + static_cast<std::uint64_t>(std::popcount(breaks & bits_below(bit)));
    const int from = std::max(0, bit - 10), to = std::min(valid, bit + 10);
    bad_row(file_.path(), row,
            fmt::format("unexpected quote in '{}'. "
                        "Put values with quotes in quotes and double the quotes in them, or set quotes = false",
                        join(printable_lines(std::string_view(bytes + from, static_cast<std::size_t>(to - from))), "\\n")));
  }

  const InputFile& file_;
  RowSyntax syntax_;
  RowScan scan_;
  bool header_;
  std::uint64_t offset_ = 0, row_begin_ = 0;  ///< offsets of the next chunk and of the current row
  std::uint64_t record_ = 0, row_ = 0;        ///< numbers of the current record and row, from 0
  std::size_t row_splits_ = 0;                ///< number of delimiters of the current row in earlier chunks
  char previous_ = '\n';                      ///< last byte of the previous chunk
  bool inside_ = false, has_closed_ = false, may_open_ = true;  ///< state of quotes after the previous chunk
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
  constexpr int threads = 2;
  constexpr std::size_t blocks_ahead = 8;
  const auto begin = mark_bytes(file);
  const auto blocks = (file.size() - begin + block_bytes - 1) / block_bytes;
  const auto read = [&](std::uint64_t number, Block& into) {
    const auto offset = begin + number * block_bytes;
    into.read(file, offset, std::min<std::uint64_t>(block_bytes, file.size() - offset), syntax);
  };
  std::optional<ReadAhead<Block>> ahead;  // a small file is read without threads
  if (blocks > blocks_ahead) ahead.emplace(0, blocks, read, ReadAheadLimits{threads, blocks_ahead});
  RowScanner scanner(file, syntax, begin, spacing);
  Block block;
  for (std::uint64_t number = 0; number < blocks; ++number) {
    if (ahead)
      ahead->next(block);
    else
      read(number, block);
    scanner.take(block);
  }
  return scanner.finish();
}

std::size_t end_of_row(std::string_view text, bool quotes) {
  auto end = text.find('\n');
  if (!quotes) return end;
  bool inside = false;
  for (std::size_t from = 0; end != text.npos; from = end + 1, end = text.find('\n', from)) {
    inside ^=
        std::count(text.begin() + static_cast<std::ptrdiff_t>(from), text.begin() + static_cast<std::ptrdiff_t>(end), '"') %
            2 !=
        0;
    if (!inside) return end;
  }
  return end;
}

void bad_row(const std::string& path, std::uint64_t row, const std::string& why) {
  throw UsageError(fmt::format("'{}', row {}: {}", path, row + 1, why));
}

}  // namespace trainrt::data
