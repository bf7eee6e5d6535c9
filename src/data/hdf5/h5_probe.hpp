#pragma once
#include <string>
#include <vector>

#include "data/source/format.hpp"

namespace trainrt::data {

/// What an HDF5 file holds: the datasets below `group` that `fields` names (paths below it), or all of numbers, each with
/// as many rows; and as index where they lie (h5_index.hpp). What is left out is said once. Throws UsageError that names
/// file, dataset and what is wrong; also if the file expands to more than the key max_expanded_bytes of `options` allows.
FileContent look_at_h5(const DataFile& file, const std::string& group, const std::vector<std::string>& fields,
                       const Options& options);

}  // namespace trainrt::data
