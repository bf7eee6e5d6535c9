#pragma once
#include <vector>

#include "io/hdf5/h5_table.hpp"

namespace trainrt::io {

/// What a virtual dataset is made of. `properties`: those that it was made with.
std::vector<H5Mapping> h5_mappings(hid_t properties, const Shape& shape);

}  // namespace trainrt::io
