#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Throws UsageError that names the Debian package to install if HDF5 cannot compress by `name`: "gzip" or "lz4".
void require_h5_compression(std::string_view name);

/// Writes an HDF5 file of chunked datasets with the HDF5 library. The file is unusable until it is closed, and after a
/// write that failed, for example on a full disk. Must be called from one thread at a time.
class H5ChunkWriter {
 public:
  struct Chunked {
    std::string name;  ///< path; missing groups are created
    DType dtype;
    Shape shape;
    std::uint64_t chunk_rows;  ///< extent of a chunk along the first axis; along the others it is that of `shape`
  };
  struct Filters {
    std::string_view compression = {};  ///< "gzip" (after the shuffle filter, if a value has several bytes), "lz4" or ""
    bool checksums = false;  ///< Fletcher-32 of chunks (gzip has its own checksum), and metadata checksums of HDF5 1.10
  };
  /// Creates the file, or replaces an existing one.
  H5ChunkWriter(std::string path, std::span<const Chunked> datasets, const Filters& filters);
  ~H5ChunkWriter();

  /// Writes `rows` rows of dataset number `dataset` from row `first` on. HDF5 applies the filters.
  void write(std::size_t dataset, std::uint64_t first, std::uint64_t rows, std::span<const std::byte> values);
  /// Writes the chunk that begins at row `first`, in its stored form: the caller has applied the filters.
  void write_stored(std::size_t dataset, std::uint64_t first, std::span<const std::byte> stored);
  /// Finishes the file and returns its size in bytes.
  std::uint64_t close();

 private:
  std::string what(std::string_view verb, std::size_t dataset) const;

  std::string path_;
  std::vector<Chunked> datasets_;
  H5Id file_;
  std::vector<H5Id> ids_;
};

}  // namespace trainrt::io
