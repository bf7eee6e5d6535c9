#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

#include "core/options.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

/// What the keys of a section say about CSV.
struct CsvOptions {
  char delimiter = ',';
  bool quotes = true;
  bool header = true;
  std::uint64_t longest_record = 0;
  std::vector<std::string> columns;  ///< that are read; all if there is none
  GivenTypes types;
  std::string vector;                ///< name of the field that several columns become; "" if none
  DType vector_type = DType::f32;    ///< of its values
  bool skips_errors = false;         ///< rows of more or fewer values are left to whoever reads them
  std::vector<std::string> missing;  ///< words for a value that is not there
};

/// `path` tells the delimiter if no key does. Throws UsageError that names the key.
CsvOptions csv_options(const Options& options, const std::string& path);

/// A column of the file, and what becomes of it.
struct CsvColumn {
  std::string name;
  ValueType type;
  bool is_read = false;
  bool must_fit = false;   ///< the type f64 was inferred: a whole number that it would round is an error
  std::size_t field = 0;   ///< that its values belong to
  std::size_t offset = 0;  ///< bytes, within a sample of that field
};

/// The names of a file's columns: those of its first row, or c0, c1, ... Throws UsageError if two have the same.
std::vector<CsvColumn> csv_columns(const std::vector<std::string>& first_row, bool header, const std::string& path);
/// Says which columns are read, and which types are given. Throws UsageError if a name is not there.
void choose_columns(std::vector<CsvColumn>& columns, const CsvOptions& options, const std::string& path);
/// Makes fields of the columns, whose types are known: one each, but all numbers whose types are not given are one vector
/// if that is asked for.
std::vector<Dataset::Field> place_columns(std::vector<CsvColumn>& columns, const CsvOptions& options);

void pack(std::span<const CsvColumn> columns, PackedWriter& into);
std::vector<CsvColumn> unpacked_columns(PackedReader& from);

}  // namespace trainrt::data
