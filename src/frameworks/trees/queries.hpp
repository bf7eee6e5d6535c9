#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>

#include "frameworks/trees/categories.hpp"

namespace trainrt::frameworks::trees {

/// The field of [data.SET] whose whole numbers name the query that each row belongs to, for ranking.
struct QueryField {
  std::string set, field;
};

/// Reads the query of each row of a batch into `into`, which is returned. UsageError with the sample for a number that is
/// missing or not whole.
std::span<const std::int64_t> read_queries(const Batch& batch, const QueryField& queries, std::vector<std::int64_t>& into);

/// Returns the part of the dataset that this rank reads, which begins and ends between two queries. Reads the field once.
/// Collective. UsageError, the same on all ranks, if the rows of a query do not follow one another: the libraries would
/// take each piece for a query of its own, and their metrics would be those of other queries.
Part part_of_queries(Context& ctx, const Dataset& data, const QueryField& queries);

}  // namespace trainrt::frameworks::trees
