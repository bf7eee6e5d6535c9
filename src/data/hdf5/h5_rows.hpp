#pragma once
#include <memory>

#include <trainrt/dataset.hpp>

#include "data/hdf5/h5_index.hpp"
#include "data/hdf5/rows.hpp"

namespace trainrt::data {

/// Returns readers for the fields of an HDF5 file, one per field. `fields`: the fields of the index. `cache_bytes`: size of
/// the cache of decoded chunks, for all fields together. `keep`: read all rows into memory now. Throws UsageError if there
/// is not enough memory for a sample or a chunk.
std::vector<std::unique_ptr<Rows>> open_h5_rows(const H5Index& index, const std::vector<Dataset::Field>& fields,
                                                std::uint64_t cache_bytes, bool keep);

}  // namespace trainrt::data
