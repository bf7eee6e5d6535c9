#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace trainrt::data {

/// What an HDF5 file stores of a chunk with the filters shuffle (of values of more than one byte) and deflate, as
/// decoded_chunk() undoes them. Any threads at once.
std::vector<std::byte> gzip_chunk(std::span<const std::byte> values, std::size_t value_bytes);

/// HDF5's shuffle filter: first all first bytes of the values, then all second ones, ...; a rest that is no whole value
/// stands at the end as it is.
std::vector<std::byte> shuffled_bytes(std::span<const std::byte> values, std::size_t value_bytes);

/// The level of compression: quick, and little larger than the best.
constexpr int gzip_level = 4;

}  // namespace trainrt::data
