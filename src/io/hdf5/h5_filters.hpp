#pragma once
#include <string>

#include "io/hdf5/h5_table.hpp"

namespace trainrt::io {

/// Throws UsageError that names the filter, and the Debian package that contains it, if HDF5 cannot apply one of them here.
void h5_require_filters(const std::vector<H5Filter>& filters);

/// Returns the names of filters for messages: "gzip, shuffle".
std::string h5_filters_in_words(const std::vector<H5Filter>& filters);

}  // namespace trainrt::io
