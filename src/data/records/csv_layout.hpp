#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

#include "core/options.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

/// The values of the keys for CSV files in a section [data.NAME].
struct CsvOptions {
  char delimiter = ',';
  bool quotes = true;
  bool header = true;
  std::uint64_t max_record_bytes = 0;
  std::vector<std::string> columns;  ///< names of the columns to read; empty: all
  GivenTypes types;
  VectorField vector;
  bool skips_errors = false;         ///< true: a row with a wrong number of values is an error only when the row is read
  std::vector<std::string> missing;  ///< words for a missing value, including the empty one
};

/// Returns the values of the keys for CSV files. If the key `delimiter` is not set, the file name in `path` determines
/// the delimiter. Throws UsageError, which names the key, if the value of a key is invalid.
CsvOptions csv_options(const Options& options, const std::string& path);

/// A column of a CSV file, and where its values are stored in the samples.
struct CsvColumn {
  std::string name;
  ValueType type;
  bool is_read = false;
  bool must_fit = false;   ///< true if f64 was inferred: then an integer that f64 would round is an error
  std::size_t field = 0;   ///< index of the field
  std::size_t offset = 0;  ///< offset of the column's value in a sample of the field, in bytes

  static auto packed_members(auto& self) {
    return std::tie(self.name, self.type, self.is_read, self.must_fit, self.field, self.offset);
  }
};

/// Returns one column for each value of the first row. The values are the names of the columns; without a header, the
/// names are c0, c1, and so on. Throws UsageError if two columns have the same name.
std::vector<CsvColumn> csv_columns(const std::vector<std::string>& first_row, bool header, const std::string& path);
/// Sets which columns are read, and the types of the columns in the key `types`. Throws UsageError for an unknown column.
void choose_columns(std::vector<CsvColumn>& columns, const CsvOptions& options, const std::string& path);
/// Assigns the columns that are read to fields, and returns the fields. By default, each column is a field. With the key
/// `vector`, all columns of numbers form one field, except those with a type in the key `types`. Precondition: the types
/// of all columns are set.
std::vector<Dataset::Field> assign_fields(std::vector<CsvColumn>& columns, const CsvOptions& options);

/// A value of a CSV row.
struct CsvValue {
  std::string_view text;      ///< text without its quotes; refers to the row or to `scratch` of csv_value()
  const char* end = nullptr;  ///< address of the delimiter after the value, or of the end of the row
};

/// Returns the value at `begin` of a row that ends at `end`. With `quotes`, the value may be in quotes. If the value
/// contains doubled quotes, copies its text to `scratch`. Throws UsageError for a quote that is not closed, or is not
/// followed by a delimiter.
CsvValue csv_value(const char* begin, const char* end, char delimiter, bool quotes, std::string& scratch);

/// Throws UsageError for a quote that neither begins nor ends a value. The message quotes the beginning of `text`.
[[noreturn]] void refuse_quote(std::string_view text);

/// Returns all values of a row.
std::vector<std::string> csv_values(std::string_view row, char delimiter, bool quotes);

}  // namespace trainrt::data
