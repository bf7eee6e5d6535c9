#pragma once
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Opens an existing file for reading, once it is known to be sound (h5_guard.hpp). External links and virtual datasets in
/// it resolve beside it.
H5Id h5_open(const std::string& path);
/// The same for a file that was found sound in this run, by this process or another one.
H5Id h5_open_sound(const std::string& path);

/// Opens a file for reading, once it is known to be sound (h5_guard.hpp), so that h5_chunks() can find chunks in it.
H5Id h5_open_to_find(const std::string& path);

}  // namespace trainrt::io
