#pragma once
#include <string>
#include <variant>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// One key over all records, of one type: i64 where every record has it as a whole number, f64 (NaN where a record lacks
/// it) where all there are numbers, else texts ("" where a record lacks it).
struct Column {
  std::string key;
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
};

/// In the order in which the keys first appear.
std::vector<Column> columns_of(const std::vector<Record>& records);

/// Where each column lies below /metrics: its key, whose slashes make groups. A key that HDF5 cannot hold so (an empty
/// part,
/// "." or "..", a folder of another key, a '%') is one name with '%', '/' and leading '.' written as %25, %2F and %2E.
std::vector<std::string> hdf5_names(const std::vector<Column>& columns);

/// The bytes of metrics.h5: /iteration, and the columns below /metrics, 1-D and of equal length.
std::string metrics_image(const std::vector<Record>& records);

}  // namespace trainrt::metrics
