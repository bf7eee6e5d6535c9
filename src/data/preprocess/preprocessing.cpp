#include "data/preprocess/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace trainrt::data {

const nlohmann::json& ColumnStats::value(std::string_view name) const {
  const auto key = stat_key(name, column);
  const auto found = all.find(key);
  if (found == all.end()) throw UsageError(fmt::format("\"stats\" has no key '{}'", key));
  return *found;
}

const nlohmann::json& ColumnStats::list(std::string_view name) const {
  const auto& found = value(name);
  if (!found.is_array()) throw UsageError(fmt::format("'{}' in \"stats\" must be a list", stat_key(name, column)));
  return found;
}

double ColumnStats::number(std::string_view name) const {
  const auto& found = value(name);
  if (found.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!found.is_number()) throw UsageError(fmt::format("'{}' in \"stats\" must be a number", stat_key(name, column)));
  return found.get<double>();
}

std::string stat_key(std::string_view name, const std::string& column) {
  return name.empty() ? column : fmt::format("{}({})", name, column);
}

nlohmann::json json_number(double value) { return std::isnan(value) ? nlohmann::json() : nlohmann::json(value); }

Fields fields_of(const Table& table) {
  Fields fields;
  for (const auto& column : table.columns) fields.push_back(column.field);
  return fields;
}

Table::Column* find_column(Table& table, std::string_view name) {
  const auto found =
      std::ranges::find(table.columns, name, [](const auto& column) -> std::string_view { return column.field.name; });
  return found == table.columns.end() ? nullptr : &*found;
}

void put_column(Table& table, Table::Column column) {
  if (auto* const old = find_column(table, column.field.name))
    *old = std::move(column);
  else
    table.columns.push_back(std::move(column));
}

void put_field(Fields& fields, Dataset::Field field) {
  if (const auto old = std::ranges::find(fields, field.name, &Dataset::Field::name); old != fields.end())
    *old = std::move(field);
  else
    fields.push_back(std::move(field));
}

}  // namespace trainrt::data
