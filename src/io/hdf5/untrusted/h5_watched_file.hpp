#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// What HDF5 wanted to read.
struct H5WantedBytes {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  int reads = 0;
};

/// File access properties with a driver of ours: it reads files, and objects by their URLs (io/storage.hpp), and never
/// writes. While an H5Watch lives, it leaves out reads of raw data and notes what was wanted instead.
H5Id h5_watched_access();

/// Opens a file or an object for reading by that driver, without the examination of h5_guard.hpp.
H5Id h5_open_watched(const std::string& path);

/// The bytes of a file, as somebody reads them for HDF5. Behind the end are zeros. `read` throws Error.
struct H5Bytes {
  std::uint64_t size = 0;
  std::function<void(std::uint64_t offset, std::span<std::byte> into)> read = {};
};
/// The same for such bytes; `name` is for messages.
H5Id h5_open_watched(const std::string& name, const H5Bytes& bytes);

/// Hold h5_lock(). One at a time.
class H5Watch {
 public:
  H5Watch();
  ~H5Watch();
  H5Watch(const H5Watch&) = delete;
  /// What was wanted since it was last asked.
  H5WantedBytes take();
};

}  // namespace trainrt::io
