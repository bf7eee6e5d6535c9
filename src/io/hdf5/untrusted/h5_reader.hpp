#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include <trainrt/tensor.hpp>

namespace trainrt::io {

/// Reads boxes (hyperslabs) of a dataset with the HDF5 library, for layouts and filters that trainrt does not read
/// itself. Opens the file at the first read; the file must have been examined before (h5_guard.hpp). Thread-safe; calls
/// are executed one at a time (h5_lock()).
class H5Reader {
 public:
  H5Reader(std::string path, std::string dataset, DType dtype);
  ~H5Reader();
  H5Reader(const H5Reader&) = delete;
  H5Reader& operator=(const H5Reader&) = delete;
  /// Reads the box of shape `count` that begins at index `start` into `out`, in row-major order. Throws Error.
  void read(const Shape& start, const Shape& count, std::byte* out) const;

 private:
  std::string path_;
  std::string dataset_;
  DType dtype_;
  mutable std::unique_ptr<struct H5OpenDataset> open_;
};

}  // namespace trainrt::io
