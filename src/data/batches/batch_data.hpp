#pragma once
#include <cstdint>
#include <vector>

#include "data/batches/pinning.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// The samples and values of one batch of one rank.
struct BatchData {
  std::vector<std::uint64_t> samples;
  std::vector<Column> columns;            ///< one for each field, by the field's index
  std::vector<bool> is_read;              ///< whether the column of each field contains the values of this batch
  std::vector<PinnedValues> pinned = {};  ///< locks on the memory of `columns`, for batches used on a GPU
};

}  // namespace trainrt::data
