#pragma once
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Opens an existing file, or an object by its URL, for reading, after h5_require_sound() (h5_guard.hpp) has examined it.
/// External links and virtual datasets in it are resolved relative to its folder. Throws Error.
H5Id h5_open(const std::string& path);
/// Opens a file like h5_open(), but without an examination: this or another process of the run has examined it before.
H5Id h5_open_sound(const std::string& path);

/// Opens a file or an object like h5_open(), but with the driver of h5_watched_file.hpp, so that h5_chunks() can find the
/// chunks in it.
H5Id h5_open_to_find(const std::string& path);

}  // namespace trainrt::io
