#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/bytes/chunk_cache.hpp"
#include "data/bytes/open_file_cache.hpp"
#include "data/hdf5/h5_index.hpp"
#include "io/hdf5/untrusted/h5_reader.hpp"

namespace trainrt::data {

/// Reads rows of a chunked dataset. The thread that needs a chunk reads and decodes it; if H5ChunkTable::by_library is set,
/// the thread calls the HDF5 library instead. Elements that were never written have the fill value. Thread-safe.
class ChunkedRows {
 public:
  /// `number` is the index of `table`, which identifies its chunks in `cache`. `path` is the path of the HDF5 file of the
  /// table. Throws UsageError if there is not enough memory for a chunk.
  ChunkedRows(H5ChunkTable table, std::size_t number, std::shared_ptr<const OpenFileCache> files, std::string path,
              std::shared_ptr<ChunkCacheShare> cache);
  /// Writes the rows with the indices `rows`, one after another, to `out`. Throws Error, with the file and the reason.
  void read(std::span<const std::uint64_t> rows, std::byte* out) const;

 private:
  /// The range of indices along each axis that a chunk contains. Chunks at the edges of the dataset extend beyond it.
  struct Box {
    Shape start;
    Shape count;   ///< extents of the part of the chunk that is inside the dataset
    Shape stored;  ///< extents of the complete chunk, as it is stored
  };
  Box box_of(std::uint64_t chunk) const;
  void read_band(std::span<const std::uint64_t> rows, std::span<const std::size_t> requests, std::byte* out) const;
  ChunkCache::Values values_of(std::uint64_t chunk, const Box& box) const;
  std::vector<std::byte> read_chunk(std::uint64_t chunk, const Box& box) const;
  void copy(const Box& box, std::size_t axis, const std::byte* from, std::byte* to) const;

  H5ChunkTable table_;
  std::size_t number_;
  std::shared_ptr<const OpenFileCache> files_;
  std::string path_;
  std::shared_ptr<ChunkCacheShare> cache_;
  std::unique_ptr<io::H5Reader> library_;
  Shape tiles_;                          // number of chunks along each axis
  std::uint64_t per_band_ = 1;           // number of chunks that together contain one row
  std::vector<std::size_t> axis_bytes_;  // distance in bytes between neighbouring elements along each axis
};

}  // namespace trainrt::data
