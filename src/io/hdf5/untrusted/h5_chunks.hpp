#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Position of a chunk's stored (filtered) bytes in its HDF5 file.
struct H5Chunk {
  std::uint64_t address = 0;  ///< offset of the chunk in the file, in bytes
  std::uint32_t bytes = 0;    ///< stored size of the chunk in bytes; 0 if it was never written
  std::uint32_t skipped = 0;  ///< bit mask: bit i is set if filter i was not applied to this chunk
};

/// Returns the positions of all chunks of a chunked dataset, in row-major order. `shape`: extents of the dataset;
/// `chunk`: extents of a chunk. The file must have been opened by h5_open_to_find(). Costs one index lookup per chunk,
/// whereas H5Dget_chunk_info() iterates over all chunks in each call. Throws Error if the chunk index is corrupt.
std::vector<H5Chunk> h5_chunks(hid_t dataset, const Shape& shape, const Shape& chunk);

/// Returns the number of chunks that cover a dataset: the exact number, or 2^62 if it is larger.
std::uint64_t h5_chunk_count(const Shape& shape, const Shape& chunk);

}  // namespace trainrt::io
