#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include <trainrt/tensor.hpp>

namespace trainrt::io {

/// Reads boxes of a dataset by HDF5 itself: for what nobody else can read. The file is opened when it is first needed.
/// Any threads may read at once; HDF5 serves them, and whoever writes a checkpoint, one after the other (h5_lock()).
class H5Reader {
 public:
  H5Reader(std::string path, std::string dataset, DType dtype);
  ~H5Reader();
  H5Reader(const H5Reader&) = delete;
  H5Reader& operator=(const H5Reader&) = delete;
  /// The elements from `start` on, as many as `count` says along each axis, row-major. Throws Error.
  void read(const Shape& start, const Shape& count, std::byte* out) const;

 private:
  std::string path_;
  std::string dataset_;
  DType dtype_;
  mutable std::unique_ptr<struct H5OpenDataset> open_;
};

}  // namespace trainrt::io
