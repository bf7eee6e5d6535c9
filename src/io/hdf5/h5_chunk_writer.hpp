#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Checks that HDF5 can compress by the filter `name`, "gzip" or "lz4". Otherwise throws UsageError, which names the
/// Debian package to install.
void require_h5_compression(std::string_view name);

/// Writes an HDF5 file of chunked datasets with the HDF5 library. The file is unusable until close() has returned, and
/// after a failed write, for example on a full disk. Must be called from one thread at a time.
class H5ChunkWriter {
 public:
  struct Chunked {
    std::string name;  ///< path of the dataset in the file; missing groups are created
    DType dtype;
    Shape shape;
    std::uint64_t chunk_rows;  ///< number of rows (along the first axis) of a chunk; its other extents are those of `shape`
  };
  struct Filters {
    /// "gzip" (with the shuffle filter before it, if a value has several bytes), "lz4" or "" (uncompressed).
    std::string_view compression = {};
    /// Whether to store checksums: Fletcher-32 for chunks (gzip has its own checksum), and those of HDF5 1.10 for metadata.
    bool checksums = false;
  };
  /// Creates the HDF5 file `path`, or replaces an existing file. The file contains the datasets `datasets`.
  H5ChunkWriter(std::string path, std::span<const Chunked> datasets, const Filters& filters);
  ~H5ChunkWriter();

  /// Writes `values` to the rows first to first + rows - 1 of dataset number `dataset`. HDF5 applies the filters.
  void write(std::size_t dataset, std::uint64_t first, std::uint64_t rows, std::span<const std::byte> values);
  /// Writes the chunk that begins at row `first` of dataset number `dataset`. `stored` is the content of the chunk after
  /// the filters, which the caller has applied.
  void write_stored(std::size_t dataset, std::uint64_t first, std::span<const std::byte> stored);
  /// Finishes and closes the HDF5 file. Returns the size of the file in bytes.
  std::uint64_t close();

 private:
  std::string what(std::string_view verb, std::size_t dataset) const;

  std::string path_;
  std::vector<Chunked> datasets_;
  H5Id file_;
  std::vector<H5Id> ids_;
};

}  // namespace trainrt::io
