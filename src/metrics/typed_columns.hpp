#pragma once
#include <string>
#include <variant>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// The values of one key in all records, as one type: i64 if each record has an integer; f64 if each value is a number that
/// a double represents exactly (NaN if a record lacks the key); otherwise string ("" if a record lacks the key).
struct TypedColumn {
  std::string key;
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
  /// The original kinds of the values, one letter per record: 'r' real, 'w' integer, 't' text, '-' missing, 'x' a text that
  /// HDF5 cannot store because it contains a zero byte. Empty if all values have the type of the column.
  std::string kinds = {};
};

/// Returns the columns in the order in which their keys first appear.
std::vector<TypedColumn> typed_columns(const std::vector<Record>& records);

/// Returns the name of each column below /metrics: its key, in which slashes create groups. A key that HDF5 cannot store in
/// this way (an empty part, "." or "..", a key below another key, a '%') becomes one name, in which '%', '/' and a leading
/// '.' are written as %25, %2F and %2E.
std::vector<std::string> hdf5_names(const std::vector<TypedColumn>& columns);

/// Returns the bytes of metrics.h5: /iteration; the columns below /metrics, 1-D and of equal length; /keys with their names
/// in order; /kinds with the `kinds` of each. A digest of the HDF5 file follows after its end, where HDF5 ignores it.
std::string metrics_image(const std::vector<Record>& records);

/// Reads metrics.h5 and returns its records, bit for bit, with the key order of csv_records(). Throws Error if the file is
/// damaged, has no `kinds` (an older version), or is not a metrics file. The digest is checked first, because HDF5 itself
/// may crash on a damaged file.
std::vector<Record> metrics_records(const std::string& path);

}  // namespace trainrt::metrics
