#pragma once
#include <cstdint>
#include <vector>

#include "data/bytes/read_ahead.hpp"
#include "data/source/pinning.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// One batch of one rank.
struct BatchData {
  std::vector<std::uint64_t> samples;
  std::vector<Column> columns;            ///< by number of the field
  std::vector<bool> is_read;              ///< by number of the field: whether its column holds this batch
  std::vector<PinnedValues> pinned = {};  ///< if the train function uses a GPU: page locks, which end before the memory
};

/// Reads batches ahead, in the order of their numbers.
using Prefetcher = ReadAhead<BatchData>;

}  // namespace trainrt::data
