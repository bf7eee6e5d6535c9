#pragma once
#include <vector>

#include <trainrt/dataset.hpp>

#include "core/options.hpp"
#include "data/hdf5/h5_index.hpp"

namespace trainrt::data {

/// Throws UsageError that names file and dataset if a sample, a decoded chunk, or the values that a dataset declares but
/// does not store exceed the key max_expanded_bytes. `fields`: those of the index.
void require_expandable(const H5Index& index, const std::vector<Dataset::Field>& fields, const Options& options);

}  // namespace trainrt::data
