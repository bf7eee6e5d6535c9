#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "data/hdf5/h5_index.hpp"

namespace trainrt::data {

/// The values of a chunk, so many bytes, in this machine's byte order, from what the file stores of it. Throws Error that
/// says what is wrong with the chunk. Not for a table that HDF5 reads.
std::vector<std::byte> decoded_chunk(const H5ChunkTable& table, const io::H5Chunk& chunk, std::vector<std::byte> stored,
                                     std::size_t bytes);

/// HDF5's shuffle filter undone: first all first bytes of the values, then all second ones, ...; a rest that is no whole
/// value stands at the end as it is.
void unshuffle(std::span<const std::byte> in, std::size_t value_bytes, std::byte* out);

}  // namespace trainrt::data
