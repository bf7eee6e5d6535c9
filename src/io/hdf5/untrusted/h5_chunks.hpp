#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// The position of a chunk's stored (filtered) bytes in its file.
struct H5Chunk {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;    ///< 0 if the chunk was never written
  std::uint32_t skipped = 0;  ///< bit i is set if filter i was not applied
};

/// Returns the chunks of a chunked dataset in row-major order. `shape` and `chunk` are the extents of the dataset and of a
/// chunk. The file must have been opened by h5_open_to_find(). Takes one index lookup per chunk, whereas H5Dget_chunk_info
/// iterates over all chunks in each call. Throws Error if the index is damaged.
std::vector<H5Chunk> h5_chunks(hid_t dataset, const Shape& shape, const Shape& chunk);

/// Returns the number of chunks that cover a dataset, limited to 2^62.
std::uint64_t h5_chunk_count(const Shape& shape, const Shape& chunk);

}  // namespace trainrt::io
