#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "data/hdf5/h5_index.hpp"

namespace trainrt::data {

/// Decodes a chunk: reverses the filters of `table` that were applied to `chunk`. `stored` is the content of the chunk in
/// the file. Returns `bytes` bytes of values in this machine's byte order. Precondition: `table.by_library` is false.
/// Throws Error, which describes the damage, if the chunk is damaged. Any thread may call decode_chunk().
std::vector<std::byte> decode_chunk(const H5ChunkTable& table, const io::H5Chunk& chunk, std::vector<std::byte> stored,
                                    std::size_t bytes);

/// Encodes a chunk with two filters of HDF5, which decode_chunk() reverses: shuffle (if a value has several bytes), then
/// deflate. Any thread may call gzip_chunk().
std::vector<std::byte> gzip_chunk(std::span<const std::byte> values, std::size_t value_bytes);

}  // namespace trainrt::data
