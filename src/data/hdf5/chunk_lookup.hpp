#pragma once
#include "data/hdf5/h5_index.hpp"
#include "io/hdf5/h5_table.hpp"

namespace trainrt::data {

/// Completes a table that knows its dataset: how its chunks are decoded, and where they lie; or that HDF5 reads them, if
/// its filters are others than gzip and shuffle or its chunks too many to list. Throws UsageError if a chunk cannot be what
/// it is said to be, or if HDF5 lacks a filter.
void find_chunks(hid_t dataset, const io::H5Table& description, const DataFile& file, H5ChunkTable& table);

/// Throws UsageError if so many bytes from there on are not in the file.
void require_in_file(const DataFile& file, std::uint64_t offset, std::uint64_t bytes);

/// Returns the size in bytes of a block of values of this shape.
inline std::uint64_t bytes_of_box(const Shape& shape, DType dtype) {
  return static_cast<std::uint64_t>(element_count(shape)) * size_of(dtype);
}

/// Throws UsageError that names the filter that HDF5 lacks.
void require_readable_filters(const io::H5Table& description);

}  // namespace trainrt::data
