#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <trainrt/tensor.hpp>

#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// Returns the JSON by which XGBoost accesses an array in memory: NumPy's array interface, version 3. The array must be
/// contiguous, row-major and little-endian. `type`: "f4", "i8".
inline std::string array_interface(const void* values, std::string_view type, std::initializer_list<std::size_t> shape) {
  static const double nothing = 0;  // the address of an empty array
  return fmt::format(R"({{"data":[{},true],"shape":[{}],"typestr":"<{}","version":3}})",
                     reinterpret_cast<std::uintptr_t>(values != nullptr ? values : &nothing), fmt::join(shape, ","), type);
}

/// The arrays of a block of rows, as array_interface() returns them. Dense rows have only `values`.
struct BlockArrays {
  std::string row_starts, columns, values;
};
inline BlockArrays arrays_of(const RowBlock& block, const TableLayout& layout) {
  const auto* const type = layout.dtype == DType::f64 ? "f8" : "f4";
  if (!layout.is_sparse())
    return {.values = array_interface(block.values, type, {block.rows, static_cast<std::size_t>(layout.columns)})};
  static const std::int64_t no_rows = 0;
  const auto* const starts = block.row_starts.empty() ? &no_rows : block.row_starts.data();
  const auto count = block.columns.size();
  return {.row_starts = array_interface(starts, "i8", {block.rows + 1}),
          .columns = array_interface(block.columns.data(), "i4", {count}),
          .values = array_interface(block.values, type, {count})};
}

}  // namespace trainrt::frameworks::trees
