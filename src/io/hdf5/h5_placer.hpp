#pragma once
#include <cstdint>
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Creates HDF5 datasets for values that the caller writes: HDF5 only allocates their space in the file, and the caller
/// writes the values at the returned offset with the functions of io/files. The datasets are contiguous, allocated at
/// creation, and have no fill value and no time stamps. Hold h5_lock() as long as the object exists.
class H5Placer {
 public:
  explicit H5Placer(hid_t file);

  /// Creates the dataset `path` and missing groups. Sets `offset` to the offset in the file of the dataset's values,
  /// which have `bytes` bytes; leaves `offset` unchanged if `bytes` is 0.
  H5Id create(const std::string& path, hid_t type, hid_t space, std::uint64_t bytes, std::uint64_t& offset);

 private:
  hid_t file_;
  H5Id properties_;
  H5Id links_;
};

}  // namespace trainrt::io
