#include "data/text/field_types.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

constexpr std::array number_types = {DType::f64, DType::f32, DType::i64, DType::i32,
                                     DType::i16, DType::i8,  DType::u8,  DType::boolean};

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const auto type : number_types) names.emplace_back(name_of(type));
  names.emplace_back("text");
  return names;
}

}  // namespace

std::string name_of(ValueType type) { return type.is_text ? "text" : std::string(name_of(type.dtype)); }

ValueType value_type(std::string_view name) {
  if (name == "text") return ValueType::text();
  for (const auto type : number_types)
    if (name_of(type) == name) return ValueType::number(type);
  const auto names = type_names();
  throw UsageError(
      fmt::format("unknown type '{}'{}; valid types: {}", excerpt(name, 60), did_you_mean(name, names), join(names)));
}

GivenTypes given_types(std::string_view list) {
  GivenTypes types;
  for (const auto& item : words_in(list)) {
    const auto colon = item.rfind(':');
    const auto name = colon == item.npos ? "" : trim(item.substr(0, colon));
    if (name.empty()) throw UsageError(fmt::format("types: '{}' is not of the form COLUMN:TYPE", excerpt(item, 60)));
    if (!types.emplace(name, value_type(trim(item.substr(colon + 1)))).second)
      throw UsageError(fmt::format("types: '{}' has two types; set one type per column", excerpt(name, 60)));
  }
  return types;
}

void require_known(std::span<const std::string> columns, const GivenTypes& types, std::span<const std::string> names,
                   const std::string& path) {
  const std::set<std::string_view> known(names.begin(), names.end());
  const auto require = [&](std::string_view key, const std::string& name) {
    if (!known.contains(name))
      throw UsageError(fmt::format("{}: '{}' has no '{}'{}; it has: {}", key, path, excerpt(name, 60),
                                   did_you_mean(name, names), excerpt(join(names))));
  };
  for (const auto& name : columns) require("columns", name);
  for (const auto& [name, type] : types) require("types", name);
}

VectorField vector_field(const std::string& text) {
  const auto colon = text.rfind(':');
  VectorField field{trim(text.substr(0, colon))};
  if (colon == text.npos) return field;
  const auto type = value_type(trim(text.substr(colon + 1)));
  if (type.is_text)
    throw UsageError(
        fmt::format("vector: '{}' is invalid: the type of a vector must be numeric, such as x:f32", excerpt(text, 60)));
  field.dtype = type.dtype;
  return field;
}

}  // namespace trainrt::data
