#pragma once
#include "core/library_version.hpp"

namespace trainrt::io {

/// Returns the versions of HDF5 that trainrt was compiled with and that is loaded.
LibraryVersion hdf5_version();

}  // namespace trainrt::io
