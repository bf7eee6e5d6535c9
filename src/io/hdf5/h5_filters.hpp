#pragma once
#include <string>

#include "io/hdf5/h5_table.hpp"

namespace trainrt::io {

/// Throws UsageError that names the filter and the Debian package with it if this HDF5 cannot undo one of them.
void h5_require_filters(const std::vector<H5Filter>& filters);

/// "gzip, shuffle": for messages.
std::string h5_filters_in_words(const std::vector<H5Filter>& filters);

}  // namespace trainrt::io
