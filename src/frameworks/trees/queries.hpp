#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>

#include "frameworks/trees/categories.hpp"

namespace trainrt::frameworks::trees {

/// The field of [data.SET] that holds the query of each row for ranking. A query is an integer.
struct QueryField {
  std::string set, field;
};

/// Stores the query of each row of a batch in `into` and returns a view of `into`. Throws UsageError, with the number of
/// the sample, for a query that is missing or not an integer.
std::span<const std::int64_t> read_queries(const Batch& batch, const QueryField& queries, std::vector<std::int64_t>& into);

/// Returns the samples that this rank reads. All rows of a query belong to the same rank. Reads the field once. Collective.
/// Throws the same UsageError on all ranks if the rows of a query are not consecutive: XGBoost and LightGBM would treat
/// each group of consecutive rows as a separate query, and compute wrong metrics.
SampleRange part_of_queries(Context& ctx, const Dataset& data, const QueryField& queries);

}  // namespace trainrt::frameworks::trees
