#pragma once
#include <functional>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Reads the structure of an HDF5 file as this program does later: groups, attributes, types, shapes, layouts, indexes of
/// chunks, texts. What HDF5 or a header refuses is ignored here: whoever opens the file then reports it. libhdf5 may crash,
/// or never return, if the file is damaged: for a process of its own (h5_examiner).
/// `open` opens it, by h5_open_watched(). `allow(seconds)` is called before each step with the processor time that it may
/// take.
void h5_examine(const std::function<H5Id()>& open, const std::function<void(double seconds)>& allow);

}  // namespace trainrt::io
