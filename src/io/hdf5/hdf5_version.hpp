#pragma once
#include "core/library_version.hpp"

namespace trainrt::io {

LibraryVersion hdf5_version();

}  // namespace trainrt::io
