#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// Returns the column that is asked for of each of `fields` fields, nullptr for those that are not asked for.
inline std::vector<Column*> asked_columns(std::span<Column> columns, std::size_t fields) {
  std::vector<Column*> found(fields, nullptr);
  for (auto& column : columns)
    if (column.field < fields && found[column.field] == nullptr) found[column.field] = &column;
  return found;
}

}  // namespace trainrt::data
