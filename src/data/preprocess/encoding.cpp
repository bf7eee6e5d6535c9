#include "data/preprocess/encoding.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

Categories::Categories(std::vector<Category> values) {
  for (const auto& value : values)
    if (!numbers_.try_emplace(value, static_cast<std::int64_t>(numbers_.size())).second)
      throw UsageError(fmt::format("the category {} occurs twice in \"stats\"", quoted(value)));
}

void Encoding::require(const Dataset::Field& field) const {
  if (!is_text(field)) require_number(field);
}

void Encoding::add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const {
  auto values = nlohmann::json::array();
  for (const auto& each : kept(at, static_cast<const CategoryStatistic&>(computed))) values.push_back(json_of(each.value));
  stats[stat_key(stat_name(), columns()[at])] = std::move(values);
}

void Encoding::set_stats(const nlohmann::json& stats) {
  categories_.clear();
  for (const auto& column : columns()) {
    std::vector<Category> values;
    for (const auto& each : ColumnStats{stats, column}.list(stat_name())) values.push_back(category_of_stat(each));
    categories_.emplace_back(std::move(values));
  }
}

Dataset::Field Numbering::output(std::size_t, const Dataset::Field& from) const {
  return {from.name, DType::i64, {}, false};
}

void Numbering::convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const {
  auto* const out = zeroed<std::int64_t>(to, samples);
  for_each_category(from, [&](std::size_t sample, const Category* value) {
    out[sample] = value != nullptr ? categories(at).number_of(*value) : Categories::unknown;
    if (out[sample] == Categories::unknown && refuses_unknown())
      throw UsageError(fmt::format("column '{}' contains {}, which did not occur when the encoder was fitted",
                                   from.field.name, value != nullptr ? quoted(*value) : "NaN"));
  });
}

LimitedEncoding::LimitedEncoding(const Parameters& given) : Encoding(given) {
  limits_.assign(columns().size(), std::numeric_limits<std::size_t>::max());
  const auto& limits = given.json("max_categories");
  if (limits.is_null()) return;
  if (!limits.is_object()) throw UsageError("max_categories must be " + valid_values(parameters[1]));
  for (const auto& [column, limit] : limits.items()) {
    const auto at = std::find(columns().begin(), columns().end(), column);
    if (at == columns().end())
      throw UsageError(
          fmt::format("max_categories names '{}', which is not one of the columns: {}", column, join(columns())));
    limits_[static_cast<std::size_t>(at - columns().begin())] =
        static_cast<std::size_t>(integer_from("max_categories", limit, std::numeric_limits<std::int64_t>::max()));
  }
}

std::vector<CategoryStatistic::Counted> LimitedEncoding::kept(std::size_t at, const CategoryStatistic& computed) const {
  auto kept = computed.most_frequent(limits_[at]);
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return is_before(a.value, b.value); });
  return kept;
}

}  // namespace trainrt::data
