#include "data/preprocess/gathering.hpp"

#include <algorithm>

#include "data/text/field_specs.hpp"

namespace trainrt::data {

std::vector<std::string> Gathering::needs(const std::string& output) const {
  if (std::find(outputs_.begin(), outputs_.end(), output) != outputs_.end()) return columns_;
  return {output};
}

void Gathering::apply(Table& table) const {
  for (const auto& column : columns_)
    if (find_column(table, column) == nullptr) return;
  change(table);
}

Fields Gathering::own_fields(const Fields& before) const {
  Fields found;
  for (const auto& column : columns_) found.push_back(before[find_field(before, column)]);
  return found;
}

std::vector<const Table::Column*> Gathering::own_columns(Table& table) const {
  std::vector<const Table::Column*> found;
  for (const auto& column : columns_) found.push_back(find_column(table, column));
  return found;
}

}  // namespace trainrt::data
