#pragma once
#include <arrow/array.h>
#include <arrow/type.h>

#include "data/tables/table_abi.hpp"

namespace trainrt::data::arrow_module {

/// As element_count(), which is the program's; -1 if it is no shape of anything.
inline std::int64_t values_of_shape(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto axis : shape)
    if (axis < 0 || __builtin_mul_overflow(count, axis, &count)) return -1;
  return count;
}

/// What becomes of a column of that type.
TableColumn described(const arrow::Field& field);

/// Where the rows of an array stand.
struct RowsPlace {
  std::uint64_t in_block = 0;
  std::uint64_t in_file = 0;
};

/// Puts the values of those rows of a block where the target says. Trusts no offset and no index of the array. Throws Error
/// that names column, row and value.
void put_values(const arrow::Array& array, const TableColumn& column, const TableTarget& target, const RowsPlace& place);

}  // namespace trainrt::data::arrow_module
