#pragma once
#include <cstdint>
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Makes datasets whose bytes HDF5 places in the file but never sees: they are written at their places by file.hpp or
/// positional_file.hpp. Contiguous, allocated at once, without a fill value and without times. Hold h5_lock() while it
/// lives.
class H5Placer {
 public:
  explicit H5Placer(hid_t file);

  /// Makes the dataset `path` with missing groups. `at` becomes the place of its `bytes` bytes in the file; it stays where
  /// there are none.
  H5Id create(const std::string& path, hid_t type, hid_t space, std::uint64_t bytes, std::uint64_t& at);

 private:
  hid_t file_;
  H5Id how_;
  H5Id links_;
};

}  // namespace trainrt::io
