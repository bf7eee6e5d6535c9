#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/records/csv_layout.hpp"
#include "data/records/record_source.hpp"

namespace trainrt::data {

/// Decodes rows of a CSV file. `quotes`: values may be in quotes.
class CsvDecoder {
 public:
  CsvDecoder(std::string path, std::vector<CsvColumn> columns, const CsvOptions& options, bool quotes);
  /// Implements RecordDecoder, a function that returns a decoder of rows for one request.
  RecordFile::Take pass(std::span<Column> columns) const;

  /// Returns the kind of a value: Seen::missing for an empty or blank value and for the words in the key `na`, otherwise
  /// the kind of the number, boolean or text.
  Seen kind_of(std::string_view value) const;

 private:
  friend class CsvPass;
  bool is_missing(std::string_view value) const;

  std::string path_;
  std::vector<CsvColumn> columns_;
  std::vector<std::size_t> sample_bytes_;  ///< for each field, the size of a sample in bytes; 0 for texts
  char delimiter_;
  bool quotes_;
  bool counts_values_;  ///< whether to check the number of values of each row
  std::vector<std::string> missing_;
  bool number_is_missing_;  ///< whether a word for missing values, such as -1, is also a number
};

}  // namespace trainrt::data
