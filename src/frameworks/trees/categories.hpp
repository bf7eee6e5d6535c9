#pragma once
#include <cstdint>
#include <string>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>

#include "frameworks/trees/table_layout.hpp"

namespace trainrt::frameworks::trees {

/// Sets the categories of each categorical text feature of `layout` to the texts that occur in [data.train], sorted by
/// bytes. Each rank scans its own samples (part_of()). Collective. Throws UsageError for more than 65536 categories, and
/// for a text that is not UTF-8.
void gather_categories(Context& ctx, const Dataset& data, TableLayout& layout);

/// Returns the number of columns of a sparse matrix: 1 plus the maximum column number in the field `indices` on all ranks.
/// Collective. Throws UsageError for a value that is not a column number.
std::uint64_t counted_columns(Context& ctx, const Dataset& data, const std::string& indices);

/// Consecutive samples of a dataset.
struct SampleRange {
  std::uint64_t first = 0, count = 0;
};
/// Returns the samples that a rank reads if `size` samples are divided evenly among `ranks` ranks. Pure function.
SampleRange part_of(std::uint64_t size, int rank, int ranks);

}  // namespace trainrt::frameworks::trees
