#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/bytes/input_file.hpp"
#include "data/records/record_index.hpp"

namespace trainrt::data {

/// How a text file is cut into rows, and which of them are records.
struct RowSyntax {
  bool quotes = false;     ///< values may stand in double quotes, which line breaks and delimiters may be in (RFC 4180)
  char delimiter = '\n';   ///< of the values of a row; '\n': a row is no list of values
  bool header = false;     ///< the first row is no record
  bool skip_empty = true;  ///< rows without anything in them are no records
  std::uint64_t max_row_bytes = 16 << 20;

  bool has_values() const { return delimiter != '\n'; }
};

/// What a scan of a whole file has found.
struct RowScan {
  RecordIndex index;
  std::uint64_t first_begin = 0, first_end = 0;  ///< the first row that is not empty, without its line break
  std::size_t values = 0;                        ///< of a row
  bool has_quotes = false;                       ///< there is a quote in the file
};

/// Reads a file once, in blocks. Rows end with \n or \r\n, the last one need not; a byte order mark (UTF-8) is left out.
/// Throws UsageError that names the row, counted from 1, if one is too long, is no text (a NUL), has more or fewer values
/// than the first, or a quote is where none may be.
RowScan scan_rows(const InputFile& file, const RowSyntax& syntax, std::uint64_t spacing);

/// Where the first row of `text` ends: at its \n, or npos if there is none. `quotes`: line breaks in quotes do not count.
std::size_t end_of_row(std::string_view text, bool quotes);

/// A row without its line break.
inline std::string_view without_break(std::string_view row) {
  if (row.ends_with('\n')) row.remove_suffix(1);
  if (row.ends_with('\r')) row.remove_suffix(1);
  return row;
}

/// Throws UsageError "'FILE', row 7: WHY". `row` is counted from 0.
[[noreturn]] void bad_row(const std::string& path, std::uint64_t row, const std::string& why);

}  // namespace trainrt::data
