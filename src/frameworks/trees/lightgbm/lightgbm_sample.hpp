#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "frameworks/trees/lightgbm/lightgbm_dataset.hpp"

namespace trainrt::frameworks::trees {

/// The values of some rows of a part, by columns: what LightGBM makes bins from. Zeros are left out. The pointers are what
/// its C functions take, and live as long as the sample.
struct LightgbmSample {
  std::int32_t rows = 0;
  std::vector<double*> values;   ///< of each column
  std::vector<int*> value_rows;  ///< which of the sample's rows each is of; if no features are bundled, only how many count
  std::vector<int> counts;       ///< of each column's values

  std::unique_ptr<double[]> area;          // dense: a place for all values of each column
  std::vector<std::vector<double>> lists;  // sparse
  std::vector<std::vector<int>> row_lists;
};

/// Those rows of the part that LightGBM itself draws from a matrix of as many rows. If no features are bundled the values
/// of those columns that this rank makes bins of are in ascending order, NaN last, which LightGBM's own sort of them is
/// fast with.
LightgbmSample sample_of(const LightgbmRun& run, TableRows& rows);

}  // namespace trainrt::frameworks::trees
