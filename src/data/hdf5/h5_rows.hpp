#pragma once
#include <memory>

#include <trainrt/dataset.hpp>

#include "data/hdf5/h5_index.hpp"
#include "data/hdf5/rows.hpp"

namespace trainrt::data {

/// What reads the fields of an HDF5 file, one each, as its index says. `cache_bytes`: of chunks that are kept decoded, for
/// all fields together. `keep`: all rows are read into memory now. Throws UsageError if there is no memory for a sample, or
/// for a chunk.
std::vector<std::unique_ptr<Rows>> open_h5_rows(const H5Index& index, const std::vector<Dataset::Field>& fields,
                                                std::uint64_t cache_bytes, bool keep);

}  // namespace trainrt::data
