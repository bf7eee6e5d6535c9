#pragma once
#include <string_view>

#include "data/dataset_impl.hpp"

namespace trainrt::data {

/// Leaves the samples out for which `keeps` is false. Each rank of dataset.team looks at its part of them, and all learn
/// what was found. What throws on one rank throws on all.
void filter(DatasetImpl& dataset, std::string_view field, const Dataset::SamplePredicate& keeps);

}  // namespace trainrt::data
