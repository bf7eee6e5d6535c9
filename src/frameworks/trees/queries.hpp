#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>

#include "frameworks/trees/categories.hpp"

namespace trainrt::frameworks::trees {

/// The field of [data.SET] that holds the query of each row, an integer, for ranking.
struct QueryField {
  std::string set, field;
};

/// Reads the query of each row of a batch into `into` and returns it. Throws UsageError, which names the sample, for a
/// number that is missing or not an integer.
std::span<const std::int64_t> read_queries(const Batch& batch, const QueryField& queries, std::vector<std::int64_t>& into);

/// Returns the samples that this rank reads; they begin and end between two queries. Reads the field once. Collective.
/// Throws UsageError, the same on all ranks, if the rows of a query are not consecutive, since the libraries would treat
/// each group of consecutive rows as a separate query, and compute wrong metrics.
SampleRange part_of_queries(Context& ctx, const Dataset& data, const QueryField& queries);

}  // namespace trainrt::frameworks::trees
