#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Returns HDF5 file access properties with trainrt's own file driver, which reads files, and objects by their URLs
/// (io/storage.hpp), and never writes. While an H5Watch exists, the driver skips reads of raw data and records them
/// instead.
H5Id h5_watched_access();

/// Opens an HDF5 file or object for reading with the driver of h5_watched_access(). Does not examine it first
/// (h5_guard.hpp).
H5Id h5_open_watched(const std::string& path);

/// An HDF5 file in the form of a function that returns its bytes. `read` must fill all of `into` with the bytes from
/// `offset` on, with zeros beyond the end of the file, and may throw Error.
struct H5Bytes {
  std::uint64_t size = 0;
  std::function<void(std::uint64_t offset, std::span<std::byte> into)> read = {};
};
/// Opens an HDF5 file, given as an H5Bytes, for reading with the driver of h5_watched_access(). `name` is used in error
/// messages.
H5Id h5_open_watched(const std::string& name, const H5Bytes& bytes);

/// Reads of raw data that an H5Watch has recorded.
struct H5WatchedReads {
  std::uint64_t address = 0;  ///< offset of the last read in the file
  std::uint64_t bytes = 0;    ///< size of the last read
  int count = 0;              ///< number of reads
};

/// Makes the driver of h5_watched_access() skip reads of raw data and record them, as long as the object exists. At most
/// one object may exist at a time. Hold h5_lock().
class H5Watch {
 public:
  H5Watch();
  ~H5Watch();
  H5Watch(const H5Watch&) = delete;
  /// Returns the reads of raw data recorded since the last call.
  H5WatchedReads take();
};

}  // namespace trainrt::io
