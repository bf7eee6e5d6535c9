#pragma once
#include <string>
#include <variant>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// One key over all records, of one type: i64 if every record has it as a whole number, f64 (NaN if a record lacks
/// it) if all there are numbers that it can hold, else texts ("" if a record lacks it).
struct Column {
  std::string key;
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
  /// What each record really has, if that is not the column's type in all: a letter each, 'r' a real, 'w' a whole
  /// number, 't' a text, '-' nothing, 'x' a text that HDF5 cannot hold whole. Empty: all have it, of the column's type.
  std::string kinds = {};
};

/// In the order in which the keys first appear.
std::vector<Column> columns_of(const std::vector<Record>& records);

/// Where each column lies below /metrics: its key, whose slashes make groups. A key that HDF5 cannot hold so (an empty
/// part,
/// "." or "..", a folder of another key, a '%') is one name with '%', '/' and leading '.' written as %25, %2F and %2E.
std::vector<std::string> hdf5_names(const std::vector<Column>& columns);

/// The bytes of metrics.h5: /iteration, and the columns below /metrics, 1-D and of equal length; /keys has their names
/// there in order, /kinds for each its Column::kinds. Behind the HDF5 file stands its digest, which HDF5 does not see.
std::string metrics_image(const std::vector<Record>& records);

/// The records of such a file, bit for bit (keys in the order of csv_records()). Throws Error if it is damaged, of an
/// older version that does not tell all, or no such file. The digest is looked at first: HDF5 itself may crash on a damaged
/// file.
std::vector<Record> metrics_records(const std::string& path);

}  // namespace trainrt::metrics
