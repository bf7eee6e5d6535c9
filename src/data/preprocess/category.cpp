#include "data/preprocess/category.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/sha256.hpp"
#include "core/text/text.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

Category category_of(double value) {
  constexpr double end = 0x1p63;
  if (value >= -end && value < end && std::trunc(value) == value) return static_cast<std::int64_t>(value);
  return value;
}

void write_category(PackedWriter& into, const Category& category) {
  into.number(category.index());
  if (const auto* const text = std::get_if<std::string>(&category))
    into.text(*text);
  else
    into.number(category.index() == 0 ? std::bit_cast<std::uint64_t>(std::get<std::int64_t>(category))
                                      : std::bit_cast<std::uint64_t>(std::get<double>(category)));
}

Category read_category(PackedReader& from) {
  const auto index = from.number();
  if (index == 2) return from.text();
  const auto pattern = from.number();
  return index == 0 ? Category(std::bit_cast<std::int64_t>(pattern)) : Category(std::bit_cast<double>(pattern));
}

}  // namespace

double as_double(const Category& number) {
  const auto* const integer = std::get_if<std::int64_t>(&number);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(number);
}

bool is_before(const Category& a, const Category& b) {
  const bool is_text_a = std::holds_alternative<std::string>(a), is_text_b = std::holds_alternative<std::string>(b);
  if (is_text_a != is_text_b) return is_text_b;
  if (a.index() == b.index()) return a < b;
  return as_double(a) < as_double(b);  // an integer and a fraction: their order stays the same if the integer is rounded
}

std::string quoted(const Category& category) {
  if (const auto* const text = std::get_if<std::string>(&category)) return "'" + excerpt(*text, 60) + "'";
  return std::visit([](const auto& number) { return fmt::format("{}", number); }, category);
}

nlohmann::json json_of(const Category& category) {
  const auto* const text = std::get_if<std::string>(&category);
  if (text != nullptr && !is_utf8(*text))
    throw UsageError(fmt::format("the text '{}' is not valid UTF-8", join(printable_lines(excerpt(*text, 60)))));
  return std::visit([](const auto& value) { return nlohmann::json(value); }, category);
}

Category category_from(const nlohmann::json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return std::int64_t{json.get<bool>() ? 1 : 0};
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return json.get<double>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return category_of(json.get<double>());
  throw UsageError(fmt::format("a category must be a number, a string or a bool, not {}", json.type_name()));
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t first = 0;;) {
    const auto end = text.find(' ', first);
    words.push_back(text.substr(first, end - first));
    if (end == std::string_view::npos) return words;
    first = end + 1;
  }
}

std::uint64_t hashed_feature(std::string_view text, std::uint32_t features) {
  std::uint64_t rest = 0;
  for (const auto byte : sha256_of(std::as_bytes(std::span(text)))) rest = (rest << 8 | byte) % features;
  return rest;
}

void for_each_category(const Table::Column& column,
                       const std::function<void(std::size_t index, const Category* value)>& visit) {
  Category value;
  if (is_text(column.field)) {
    for (std::size_t i = 0; i < column.ends.size(); ++i) {
      value = std::string(text_at(column, i));
      visit(i, &value);
    }
    return;
  }
  with_numbers(column.field.dtype, column.values, [&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      bool is_missing = false;
      if constexpr (std::is_floating_point_v<typename decltype(values)::value_type>) {
        is_missing = std::isnan(values[i]);
        if (!is_missing) value = category_of(values[i]);
      } else {
        value = static_cast<std::int64_t>(values[i]);
      }
      visit(i, is_missing ? nullptr : &value);
    }
  });
}

void CategoryStatistic::count(const Category& value, std::uint64_t times) {
  const auto* const real = std::get_if<double>(&value);
  if (real != nullptr && !std::isfinite(*real)) throw UsageError(has_infinity);
  const auto [at, is_new] = counts_.try_emplace(value, 0);
  at->second += times;
  if (!is_new) return;
  constexpr std::uint64_t max_values = 1 << 24, max_bytes = 1 << 30, bytes_of_entry = 64;
  const auto* const text = std::get_if<std::string>(&value);
  bytes_ += bytes_of_entry + (text != nullptr ? text->size() : 0);
  if (counts_.size() > max_values || bytes_ > max_bytes)
    throw UsageError(fmt::format("the column has more than {} distinct values, but categories are limited to {}",
                                 counts_.size() - 1, bytes_ > max_bytes ? "1 GiB of memory" : "2^24 values"));
}

void CategoryStatistic::add(const Table::Column& column) {
  if (of_ == Of::words) {
    for (std::size_t i = 0; i < column.ends.size(); ++i)
      for (const auto word : split_words(text_at(column, i))) count(std::string(word), 1);
    return;
  }
  for_each_category(column, [this](std::size_t, const Category* value) {
    const bool is_missing = value == nullptr || (of_ == Of::non_missing && *value == Category(std::string()));
    if (!is_missing) return count(*value, 1);
    if (of_ != Of::non_missing)
      throw UsageError(
          "Unable to fit column because it contains null values (NaN). Consider imputing missing values first, "
          "with SimpleImputer");
  });
}

void CategoryStatistic::write(PackedWriter& into) const {
  into.number(counts_.size());
  for (const auto& [value, count] : counts_) {
    write_category(into, value);
    into.number(count);
  }
}

void CategoryStatistic::merge(PackedReader& from) {
  for (auto left = from.number(); left > 0; --left) {
    const auto value = read_category(from);
    count(value, from.number());
  }
}

std::vector<CategoryStatistic::Counted> CategoryStatistic::most_frequent(std::size_t limit) const {
  std::vector<Counted> found;
  found.reserve(counts_.size());
  for (const auto& [value, count] : counts_) found.push_back({value, count});
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.count != b.count ? a.count > b.count : is_before(a.value, b.value);
  });
  if (found.size() > limit) found.resize(limit);
  return found;
}

}  // namespace trainrt::data
