#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Where the bytes of a chunk lie in its file, as its filters left them.
struct H5Chunk {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;    ///< 0: the chunk was never written
  std::uint32_t skipped = 0;  ///< bit i: filter i was not applied to it
};

/// The chunks of a chunked dataset in a file that h5_open_to_find() opened, row-major by their places in it. `shape` and
/// `chunk`: extents of the dataset and of a chunk. (H5Dget_chunk_info walks over all chunks for each one; this takes a
/// look-up in the index for each.) Throws Error if the file's index is damaged.
std::vector<H5Chunk> h5_chunks(hid_t dataset, const Shape& shape, const Shape& chunk);

/// How many chunks cover a dataset; at most 2^62.
std::uint64_t h5_chunk_count(const Shape& shape, const Shape& chunk);

}  // namespace trainrt::io
