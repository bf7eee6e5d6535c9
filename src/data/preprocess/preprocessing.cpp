#include "data/preprocess/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace trainrt::data {

std::string stat_key(std::string_view what, const std::string& column) { return fmt::format("{}({})", what, column); }

double stat_number(const nlohmann::json& stats, const std::string& key) {
  const auto found = stats.find(key);
  if (found == stats.end()) throw UsageError(fmt::format("the stats have no '{}'", key));
  if (found->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!found->is_number()) throw UsageError(fmt::format("'{}' of the stats must be a number", key));
  return found->get<double>();
}

nlohmann::json json_number(double value) { return std::isnan(value) ? nlohmann::json() : nlohmann::json(value); }

Table::Column* find_column(Table& table, std::string_view name) {
  for (auto& column : table.columns)
    if (column.field.name == name) return &column;
  return nullptr;
}

void put_column(Table& table, Table::Column column) {
  if (auto* const there = find_column(table, column.field.name))
    *there = std::move(column);
  else
    table.columns.push_back(std::move(column));
}

void put_field(Fields& fields, Dataset::Field field) {
  const auto there =
      std::find_if(fields.begin(), fields.end(), [&field](const auto& known) { return known.name == field.name; });
  if (there != fields.end())
    *there = std::move(field);
  else
    fields.push_back(std::move(field));
}

}  // namespace trainrt::data
