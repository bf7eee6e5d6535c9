#pragma once
#include "data/hdf5/h5_index.hpp"
#include "io/hdf5/h5_table.hpp"

namespace trainrt::data {

/// Completes `table`, which describes the chunked dataset `dataset` of `file`: sets its filters and the positions of its
/// chunks. If only the HDF5 library can read the dataset, sets `table.by_library` instead; this is the case for filters
/// other than gzip, shuffle and Fletcher-32, and for more than 2^24 chunks. Throws UsageError if the position or size of a
/// chunk is impossible, or if the HDF5 library lacks a filter.
void find_chunks(hid_t dataset, const io::H5Table& description, const DataFile& file, H5ChunkTable& table);

/// Throws UsageError if `file` is too short to have `bytes` bytes at the position `offset`.
void require_in_file(const DataFile& file, std::uint64_t offset, std::uint64_t bytes);

/// Fills `out` with copies of `value`, which has the bytes of one value.
void repeat_value(std::string_view value, std::span<std::byte> out);

/// Returns the size in bytes of an array of shape `shape`.
inline std::uint64_t bytes_of_box(const Shape& shape, DType dtype) {
  return static_cast<std::uint64_t>(element_count(shape)) * size_of(dtype);
}

}  // namespace trainrt::data
