#pragma once
#include <string>
#include <string_view>

#include "data/dataset_impl.hpp"

namespace trainrt::data {

/// Leaves the samples out for which `keeps` is false. Each rank of dataset.team looks at its part of them, and all learn
/// what was found. What throws on one rank throws on all. `who`: for messages.
void filter(DatasetImpl& dataset, std::string_view field, const Dataset::SamplePredicate& keeps,
            const std::string& who = "the filter");

/// UsageError if the filters keep other samples than at the checkpoint that the place inside an epoch came from.
void require_same_filter(const DatasetImpl& dataset);

}  // namespace trainrt::data
