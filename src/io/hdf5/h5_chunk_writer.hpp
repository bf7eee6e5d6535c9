#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// UsageError that names the Debian package if this HDF5 cannot compress so: "gzip", "lz4".
void require_h5_compression(std::string_view name);

/// Writes an HDF5 file of chunks by HDF5 itself: a file that nobody relies on before it is closed, for after a
/// write that failed (a full disk) it is lost. One thread at a time.
class H5ChunkWriter {
 public:
  struct Chunked {
    std::string name;  ///< a path; missing groups are made
    DType dtype;
    Shape shape;               ///< the first axis is cut
    std::uint64_t chunk_rows;  ///< into chunks of so many rows
  };
  struct Filters {
    std::string_view compression =
        {};                  ///< gzip (behind the filter shuffle, of values of more than one byte) or lz4; "": none
    bool checksums = false;  ///< Fletcher-32, where gzip has none of its own; and those of HDF5 1.10 of metadata
  };
  /// Makes the file anew.
  H5ChunkWriter(std::string path, std::span<const Chunked> datasets, const Filters& filters);
  ~H5ChunkWriter();

  /// Rows of a dataset, as they are.
  void write(std::size_t dataset, std::uint64_t first, std::uint64_t rows, std::span<const std::byte> values);
  /// A whole chunk, whose first row is that, as its filters make it.
  void write_stored(std::size_t dataset, std::uint64_t first, std::span<const std::byte> stored);
  /// Returns the bytes of the file.
  std::uint64_t close();

 private:
  H5Id create(const Chunked& dataset, const Filters& filters);
  std::string what(std::string_view verb, std::size_t dataset) const;

  std::string path_;
  std::vector<Chunked> datasets_;
  H5Id file_;
  std::vector<H5Id> ids_;
};

}  // namespace trainrt::io
