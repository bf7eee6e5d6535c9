#pragma once
#include <string>
#include <variant>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// The values of one metric key in all records of a run, converted to one type:
/// - i64 if each record has an integer
/// - f64 if each value is a number that a double represents exactly; NaN if a record lacks the key
/// - string otherwise; "" if a record lacks the key
struct TypedColumn {
  std::string key;
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
  /// The original types of the values, one letter per record: 'r' real, 'w' integer, 't' text, '-' missing. 'x' is a text
  /// with a zero byte, which HDF5 cannot store. Empty if all values have the type of the column.
  std::string kinds = {};
};

/// Returns one column per metric key of the records, in the order in which the keys first appear.
std::vector<TypedColumn> typed_columns(const std::vector<Record>& records);

/// Returns the path of each column's dataset below /metrics in metrics.h5. The path is the metric key; slashes in the key
/// create HDF5 groups.
///
/// Some keys cannot be such a path: keys with an empty part, with a part "." or "..", with '%', or below another key. In
/// such a key, '%', '/' and a leading '.' are escaped as %25, %2F and %2E, so that the key becomes one name without
/// groups.
std::vector<std::string> hdf5_names(const std::vector<TypedColumn>& columns);

/// Returns the content of metrics.h5, followed by a digest after the end of the HDF5 data, where HDF5 ignores it. The
/// datasets are:
/// - /iteration
/// - the columns below /metrics, one-dimensional and of equal length
/// - /keys with the names of the columns, in order
/// - /kinds with TypedColumn::kinds of each column
std::string metrics_image(const std::vector<Record>& records);

/// Reads the file metrics.h5 and returns its metric records, bit for bit, with the key order of csv_records(). Throws Error
/// if the file is damaged, was written by an older version (without `kinds`), or is not a metrics file. The digest is
/// checked first, because HDF5 itself may crash on a damaged file.
std::vector<Record> metrics_records(const std::string& path);

}  // namespace trainrt::metrics
