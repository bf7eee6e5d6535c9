#pragma once
#include <functional>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Reads all of an HDF5 file's structure that trainrt may read later: groups, attributes, types, shapes, layouts, indexes
/// of chunks, strings. For the program h5_examiner only: if the file is damaged, libhdf5 may crash or never return. Errors
/// that HDF5 reports are ignored, because the process that opens the file later reports them. `open` opens the file by
/// h5_open_watched(). `allow(seconds)` is called before each step with the processor time that the step may take.
void h5_examine(const std::function<H5Id()>& open, const std::function<void(double seconds)>& allow);

}  // namespace trainrt::io
