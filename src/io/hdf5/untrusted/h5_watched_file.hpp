#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Returns file access properties with a driver of trainrt, which reads files, and objects by their URLs (io/storage.hpp),
/// and never writes. While an H5Watch exists, the driver skips reads of raw data and records them instead.
H5Id h5_watched_access();

/// Opens a file or an object for reading with that driver, without the examination of h5_guard.hpp.
H5Id h5_open_watched(const std::string& path);

/// The bytes of an HDF5 file that a function provides. `read` must fill all of `into`, with zeros beyond the end of the
/// file, and may throw Error.
struct H5Bytes {
  std::uint64_t size = 0;
  std::function<void(std::uint64_t offset, std::span<std::byte> into)> read = {};
};
/// Opens such bytes for reading with that driver. `name` is used in error messages.
H5Id h5_open_watched(const std::string& name, const H5Bytes& bytes);

/// The reads of raw data that an H5Watch has recorded.
struct H5WatchedReads {
  std::uint64_t address = 0;  ///< offset in the file, of the last read
  std::uint64_t bytes = 0;    ///< size of the last read
  int count = 0;              ///< number of reads
};

/// Makes the driver skip reads of raw data, and records them. At most one may exist at a time. Hold h5_lock().
class H5Watch {
 public:
  H5Watch();
  ~H5Watch();
  H5Watch(const H5Watch&) = delete;
  /// Returns the reads since the last call.
  H5WatchedReads take();
};

}  // namespace trainrt::io
