#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/records/csv_layout.hpp"
#include "data/records/record_source.hpp"

namespace trainrt::data {

/// Decodes rows of CSV. `quotes`: values may be quoted.
class CsvDecoder {
 public:
  CsvDecoder(std::string path, std::vector<CsvColumn> columns, const CsvOptions& options, bool quotes);
  /// Implements RecordDecoder.
  RecordFile::Take pass(std::span<Column> columns) const;

  /// Returns the kind of a value: Seen::missing for an empty or blank value and for the words in the key `na`, otherwise
  /// the kind of the number, boolean or text.
  Seen kind_of(std::string_view value) const;

 private:
  friend class CsvPass;
  bool is_missing(std::string_view value) const;

  std::string path_;
  std::vector<CsvColumn> columns_;
  std::vector<std::size_t> sample_bytes_;  ///< size of a sample of each field; 0 for texts
  char delimiter_;
  bool quotes_;
  bool counts_values_;  ///< true: the number of values of each row is checked
  std::vector<std::string> missing_;
  bool number_is_missing_;  ///< a word for missing values is also a number
};

}  // namespace trainrt::data
