#pragma once
#include <cstdint>
#include <string>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>

#include "frameworks/trees/table_layout.hpp"

namespace trainrt::frameworks::trees {

/// Gives each categorical feature that is a text all texts that occur, sorted by bytes: each rank looks at its part.
/// Collective. UsageError if there are more than a library can tell apart, and for a text that is no UTF-8.
void gather_categories(Context& ctx, const Dataset& data, TableLayout& layout);

/// One more than the largest column that occurs in any rank's part of a field of lists. Collective. UsageError for what is
/// no column.
std::uint64_t counted_columns(Context& ctx, const Dataset& data, const std::string& indices);

/// The part of `size` samples that a rank reads.
struct Part {
  std::uint64_t first = 0, count = 0;
};
Part part_of(std::uint64_t size, int rank, int ranks);

}  // namespace trainrt::frameworks::trees
