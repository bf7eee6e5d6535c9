#pragma once
#include <arrow/array.h>
#include <arrow/type.h>

#include "data/tables/table_abi.hpp"

namespace trainrt::data::arrow_module {

/// Returns the number of values of a shape, or -1 if the shape is invalid. Replaces element_count(), which the module
/// cannot call because it does not link to the program.
inline std::int64_t values_of_shape(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto axis : shape)
    if (axis < 0 || __builtin_mul_overflow(count, axis, &count)) return -1;
  return count;
}

/// Returns the description of a column that has the Arrow type of `field`.
TableColumn describe_column(const arrow::Field& field);

/// The index of the first row of an array: in its block, and in the file.
struct FirstRow {
  std::uint64_t in_block = 0;
  std::uint64_t in_file = 0;
};

/// Stores the values of an array in `target`. Checks all offsets and indices of the array. For an invalid value, throws
/// Error, which names column, row and value.
void put_values(const arrow::Array& array, const TableColumn& column, const TableTarget& target, const FirstRow& first);

}  // namespace trainrt::data::arrow_module
