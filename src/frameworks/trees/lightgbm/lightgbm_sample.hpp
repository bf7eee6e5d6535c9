#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "frameworks/trees/lightgbm/lightgbm_dataset.hpp"

namespace trainrt::frameworks::trees {

/// The values of a sample of this rank's rows, by column. LightGBM computes bins from them. Zeros are omitted. The
/// pointers refer to the other members, for LightGBM's C functions.
struct LightgbmSample {
  std::int32_t rows = 0;
  std::vector<double*> values;   ///< by column
  std::vector<int*> value_rows;  ///< by column: the sampled row of each value; arbitrary numbers if no features are bundled
  std::vector<int> counts;       ///< by column: number of values

  std::unique_ptr<double[]> area;           ///< dense: memory of `values`, for the maximum number of values per column
  std::vector<std::vector<double>> lists;   ///< sparse: memory of `values`
  std::vector<std::vector<int>> row_lists;  ///< memory of `value_rows`
};

/// Reads the rows from which bins are computed: those that LightGBM itself would draw from a matrix with the same number
/// of rows. If no features are bundled, sorts the values of each column for which this rank computes bins, NaN last,
/// because LightGBM sorts unsorted values slowly. Bundles need the order of the rows.
LightgbmSample sample_of(const LightgbmRun& run, TableRows& rows);

}  // namespace trainrt::frameworks::trees
