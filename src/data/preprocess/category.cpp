#include "data/preprocess/category.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

Category category_of(double value) {
  constexpr double end = 0x1p63;
  if (value >= -end && value < end && std::trunc(value) == value) return static_cast<std::int64_t>(value);
  return value;
}

bool is_before(const Category& a, const Category& b) {
  const auto* const text_a = std::get_if<std::string>(&a);
  const auto* const text_b = std::get_if<std::string>(&b);
  if (text_a != nullptr || text_b != nullptr)
    return text_a != nullptr && text_b != nullptr ? *text_a < *text_b : text_a == nullptr;
  const auto* const whole_a = std::get_if<std::int64_t>(&a);
  const auto* const whole_b = std::get_if<std::int64_t>(&b);
  if (whole_a != nullptr && whole_b != nullptr) return *whole_a < *whole_b;
  const auto real = [](const Category& each) {
    const auto* const whole = std::get_if<std::int64_t>(&each);
    return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(each);
  };
  return real(a) < real(b);  // one of them is no whole number below 2^63: rounding the other does not change the order
}

std::string words_of(const Category& category) {
  if (const auto* const text = std::get_if<std::string>(&category)) return "'" + excerpt(*text, 60) + "'";
  const auto* const whole = std::get_if<std::int64_t>(&category);
  return whole != nullptr ? fmt::format("{}", *whole) : fmt::format("{}", std::get<double>(category));
}

nlohmann::json json_of(const Category& category) {
  if (const auto* const text = std::get_if<std::string>(&category)) {
    if (!is_utf8(*text))
      throw UsageError(fmt::format("the text '{}' is no UTF-8", join(printable_lines(excerpt(*text, 60)))));
    return *text;
  }
  const auto* const whole = std::get_if<std::int64_t>(&category);
  return whole != nullptr ? nlohmann::json(*whole) : nlohmann::json(std::get<double>(category));
}

Category category_from(const nlohmann::json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return std::int64_t{json.get<bool>() ? 1 : 0};
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return json.get<double>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return category_of(json.get<double>());
  throw UsageError("a category is a number, a text or a truth value");
}

void write(PackedWriter& into, const Category& category) {
  into.number(category.index());
  if (const auto* const text = std::get_if<std::string>(&category)) return into.text(*text);
  const auto* const whole = std::get_if<std::int64_t>(&category);
  into.number(whole != nullptr ? std::bit_cast<std::uint64_t>(*whole)
                               : std::bit_cast<std::uint64_t>(std::get<double>(category)));
}

Category read_category(PackedReader& from) {
  const auto kind = from.number();
  if (kind == 2) return from.text();
  const auto pattern = from.number();
  return kind == 0 ? Category(std::bit_cast<std::int64_t>(pattern)) : Category(std::bit_cast<double>(pattern));
}

void for_each_category(const Table::Column& column, const std::function<void(std::size_t at, const Category* value)>& see) {
  Category value;
  if (is_text(column.field)) {
    for (std::size_t i = 0; i < column.ends.size(); ++i) {
      value = std::string(text_at(column, i));
      see(i, &value);
    }
    return;
  }
  with_numbers(column.field.dtype, column.values, [&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_floating_point_v<typename decltype(values)::value_type>) {
        const bool is_missing = std::isnan(values[i]);
        if (!is_missing) value = category_of(values[i]);
        see(i, is_missing ? nullptr : &value);
      } else {
        value = static_cast<std::int64_t>(values[i]);
        see(i, &value);
      }
    }
  });
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (std::size_t first = 0;;) {
    const auto end = text.find(' ', first);
    tokens.push_back(text.substr(first, end - first));
    if (end == std::string_view::npos) return tokens;
    first = end + 1;
  }
}

}  // namespace trainrt::data
