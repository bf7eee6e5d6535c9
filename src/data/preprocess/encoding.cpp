#include "data/preprocess/encoding.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

Categories::Categories(std::vector<Category> values) {
  for (auto& value : values) {
    const auto number = static_cast<std::int64_t>(numbers_.size());
    const auto words = words_of(value);
    if (!numbers_.try_emplace(std::move(value), number).second)
      throw UsageError(fmt::format("the category {} is there twice", words));
  }
}

void Encoding::require_category(const Dataset::Field& field) {
  if (!is_text(field)) require_number(field);
}

std::vector<Wish> Encoding::wishes(const Fields& fields) const {
  std::vector<Wish> wishes;
  for (const auto& column : columns()) {
    require(field_of(fields, column));
    wishes.push_back({column, std::make_unique<CategoryStatistic>(of())});
  }
  return wishes;
}

std::vector<CategoryStatistic::Counted> Encoding::kept(const std::string&, const CategoryStatistic& found) const {
  return found.by_value();
}

nlohmann::json Encoding::learned(std::span<const Wish> found) const {
  auto stats = nlohmann::json::object();
  for (const auto& each : found) {
    auto values = nlohmann::json::array();
    for (const auto& one : kept(each.column, as<CategoryStatistic>(each))) values.push_back(json_of_kept(one));
    stats[stat_key(stat_name(), each.column)] = std::move(values);
  }
  return stats;
}

void Encoding::set_stats(const nlohmann::json& stats) {
  categories_.clear();
  for (const auto& column : columns()) {
    const auto key = stat_key(stat_name(), column);
    const auto found = stats.find(key);
    if (found == stats.end() || !found->is_array()) throw UsageError(fmt::format("the stats need '{}', a list", key));
    std::vector<Category> values;
    for (const auto& each : *found) values.push_back(category_of_kept(each));
    categories_.emplace_back(std::move(values));
  }
}

CategoryLimits limits_from(const nlohmann::json& json, const std::vector<std::string>& columns) {
  CategoryLimits limits;
  if (json.is_null()) return limits;
  if (!json.is_object()) throw UsageError("max_categories must be an object of columns and numbers, {\"city\": 10}");
  for (const auto& [column, limit] : json.items()) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end())
      throw UsageError(fmt::format("max_categories names '{}', which is none of the columns", column));
    if (!limit.is_number_unsigned() || limit == 0U) throw UsageError("max_categories must be whole numbers, from 1 on");
    limits.emplace_back(column, limit.get<std::size_t>());
  }
  return limits;
}

std::vector<CategoryStatistic::Counted> most_frequent_by_value(const CategoryLimits& limits, const std::string& column,
                                                               const CategoryStatistic& found) {
  const auto limit =
      std::find_if(limits.begin(), limits.end(), [&column](const auto& each) { return each.first == column; });
  if (limit == limits.end()) return found.by_value();
  auto kept = found.most_frequent(limit->second);
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return is_before(a.value, b.value); });
  return kept;
}

}  // namespace trainrt::data
