#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// Leaves the samples out for which `keeps` is false. Each rank of dataset.team looks at its part of them, and all learn
/// what was found. What throws on one rank throws on all. `who`: for messages.
void filter(DatasetImpl& dataset, std::string_view field, const Dataset::SamplePredicate& keeps);

/// The same by several fields: numbers of the source's.
void filter(DatasetImpl& dataset, const std::vector<std::size_t>& fields,
            const std::function<bool(std::span<const TensorView> values)>& keeps, const std::string& who);

/// Keeps the samples that meet `condition`, an expression of parse_row_expression() on the dataset's fields. Throws
/// UsageError, with the position in the expression, for a syntax error, an unknown field and a field of the wrong type, and
/// if no sample is kept. Collective over dataset.team.
void filter(DatasetImpl& dataset, const std::string& condition);

/// UsageError if the filters keep other samples than at the checkpoint that the place inside an epoch came from.
void require_same_filter(const DatasetImpl& dataset);

}  // namespace trainrt::data
