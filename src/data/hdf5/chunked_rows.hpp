#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/bytes/chunk_cache.hpp"
#include "data/bytes/open_file_cache.hpp"
#include "data/hdf5/h5_index.hpp"
#include "data/hdf5/rows.hpp"
#include "io/hdf5/untrusted/h5_reader.hpp"

namespace trainrt::data {

/// Rows of a chunked dataset: each chunk is read where it lies and decoded by the thread that needs it, or by HDF5 if only
/// that can. What was never written has the fill value.
class ChunkedRows final : public Rows {
 public:
  /// `number`: of the table, in the keys of the cache. `path`: of its file.
  ChunkedRows(H5ChunkTable table, std::size_t number, std::shared_ptr<const OpenFileCache> files, std::string path,
              std::shared_ptr<ChunkCacheShare> cache);
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override;

 private:
  /// Where a chunk lies in the dataset. At its edges a chunk reaches beyond.
  struct Box {
    Shape start;
    Shape count;   ///< without what reaches beyond
    Shape stored;  ///< as it lies in memory
  };
  Box box_of(std::uint64_t chunk) const;
  void read_band(std::span<const std::uint64_t> rows, std::span<const std::size_t> requests, std::byte* out) const;
  ChunkCache::Values values_of(std::uint64_t chunk, const Box& box) const;
  std::vector<std::byte> decoded(std::uint64_t chunk, const Box& box) const;
  void copy(const Box& box, std::size_t axis, const std::byte* from, std::byte* to) const;

  H5ChunkTable table_;
  std::size_t number_;
  std::shared_ptr<const OpenFileCache> files_;
  std::string path_;
  std::shared_ptr<ChunkCacheShare> cache_;
  std::unique_ptr<io::H5Reader> library_;
  Shape tiles_;                          // chunks along each axis
  std::uint64_t per_band_ = 1;           // chunks that a row touches
  std::vector<std::size_t> axis_bytes_;  // of one step along each axis, in a row
};

}  // namespace trainrt::data
