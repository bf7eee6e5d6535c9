#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "data/bytes/input_file.hpp"
#include "data/records/record_index.hpp"

namespace trainrt::data {

/// How the rows of a text file end, and which rows are records.
struct RowSyntax {
  bool quotes = false;     ///< values may be in double quotes, and then contain line breaks and delimiters (RFC 4180)
  char delimiter = '\n';   ///< separates the values of a row; '\n': a row is not divided into values
  bool header = false;     ///< the first row is not a record
  bool skip_empty = true;  ///< empty rows are not records
  std::uint64_t max_row_bytes = 16 << 20;

  bool has_values() const { return delimiter != '\n'; }
};

/// The result of scan_rows().
struct RowScan {
  RecordIndex index;
  std::uint64_t first_begin = 0, first_end = 0;  ///< offsets of the first row that is not empty, without its line break
  std::size_t values = 0;                        ///< number of values per row
  bool has_quotes = false;                       ///< whether the file contains a quote and RowSyntax::quotes is set
};

/// Reads a file once and finds its rows. Rows end with \n or \r\n; the line break of the last row may be missing. A
/// UTF-8 byte order mark is skipped.
///
/// Throws UsageError with the number of the row, from 1, if a row:
/// - is too long
/// - contains a NUL (only if rows have values)
/// - has more or fewer values than the first row
/// - has a quote inside a value
RowScan scan_rows(const InputFile& file, const RowSyntax& syntax, std::uint64_t spacing);

/// Returns the index of the \n that ends the first row of `text`, or npos. With `quotes`, line breaks in quotes do not end
/// a row.
std::size_t end_of_row(std::string_view text, bool quotes);

/// Returns a row without its line break.
inline std::string_view without_break(std::string_view row) {
  if (row.ends_with('\n')) row.remove_suffix(1);
  if (row.ends_with('\r')) row.remove_suffix(1);
  return row;
}

/// Throws UsageError "'FILE', row N: WHY". `row` is counted from 0; the message counts rows from 1, so N is `row` + 1.
[[noreturn]] void bad_row(const std::string& path, std::uint64_t row, const std::string& why);

}  // namespace trainrt::data
