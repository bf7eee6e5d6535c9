#pragma once
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Opens an existing HDF5 file, or an object by its URL, for reading, after h5_require_sound() (h5_guard.hpp) has
/// examined it. External links and virtual datasets in the file are resolved relative to its folder. Throws Error.
H5Id h5_open(const std::string& path);
/// Opens an HDF5 file like h5_open(), but does not examine it, because this or another process of the run has already
/// done so.
H5Id h5_open_sound(const std::string& path);

/// Opens an HDF5 file or object like h5_open(), but with the file driver of h5_watched_file.hpp, so that h5_chunks() can
/// find the positions of chunks.
H5Id h5_open_to_find(const std::string& path);

}  // namespace trainrt::io
