#pragma once
#include <string>
#include <vector>

#include "data/source/format.hpp"

namespace trainrt::data {

/// Reads the metadata of an HDF5 file. The fields of the result are the datasets named in `fields` (paths below the group
/// `group`), or all datasets of numbers below the group if `fields` is empty. All fields must have the same number of
/// rows. FileContent::index contains an encoded H5Index. Logs once which datasets are left out.
///
/// Throws UsageError, which names the file and the dataset, if a dataset cannot be a field, or if the file expands to
/// more bytes than the key `max_expanded_bytes` in `options` allows.
FileContent probe_h5(const DataFile& file, const std::string& group, const std::vector<std::string>& fields,
                     const Options& options);

}  // namespace trainrt::data
