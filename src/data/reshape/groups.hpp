#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/batches/dataset_plan.hpp"

namespace trainrt::data {

/// Samples grouped by a key. The groups are in the order of their first samples.
struct Groups {
  std::vector<std::uint64_t> ends;  ///< number of samples up to the end of each group
  /// Numbers of the samples, group by group, in ascending order within a group. An empty vector means the order 0, 1,
  /// 2, ...
  std::vector<std::uint64_t> order;
};

/// Groups the samples of `plan` by field number `field`, which must contain integers or texts. Collective over
/// plan.team.
Groups groups_of(const DatasetPlan& plan, std::size_t field);

}  // namespace trainrt::data
