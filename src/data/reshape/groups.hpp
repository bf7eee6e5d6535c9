#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// Samples by what they have in common, the groups in the order of their first samples.
struct Groups {
  std::vector<std::uint64_t> ends;   ///< samples in all up to the end of each group
  std::vector<std::uint64_t> order;  ///< their numbers, group by group, each group's ascending; empty: 0, 1, 2, ...
};

/// The samples whose key, a field of whole numbers or texts, is the same. Collective over dataset.team: each rank looks at
/// its part.
Groups groups_of(const DatasetImpl& dataset, std::size_t field);

}  // namespace trainrt::data
