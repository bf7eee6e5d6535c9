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
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    const auto piece = trim(list.substr(at, end - at));
    at = end + 1;
    if (piece.empty()) continue;
    const auto colon = piece.rfind(':');
    const auto name = colon == piece.npos ? "" : trim(std::string_view(piece).substr(0, colon));
    if (name.empty()) throw UsageError(fmt::format("types: '{}' is not of the form COLUMN:TYPE", excerpt(piece, 60)));
    if (!types.emplace(name, value_type(trim(std::string_view(piece).substr(colon + 1)))).second)
      throw UsageError(fmt::format("types: '{}' is given twice", excerpt(name, 60)));
  }
  return types;
}

void require_known(std::span<const std::string> asked, std::span<const std::string> names, std::string_view key,
                   const std::string& path) {
  const std::set<std::string_view> known(names.begin(), names.end());
  for (const auto& name : asked)
    if (!known.contains(name))
      throw UsageError(fmt::format("{}: '{}' has no '{}'{}; it has: {}", key, path, excerpt(name, 60),
                                   did_you_mean(name, names), excerpt(join(names))));
}

ValueType TypeGuess::type() const {
  const auto has = [&](Seen kind) { return (seen_ & static_cast<unsigned>(kind)) != 0; };
  const bool has_numbers = has(Seen::integer) || has(Seen::real);
  if (has(Seen::text) || (has(Seen::boolean) && has_numbers)) return ValueType::text();
  if (has(Seen::missing) || has(Seen::real)) return ValueType::number(DType::f64);
  return ValueType::number(has(Seen::boolean) ? DType::boolean : DType::i64);
}

}  // namespace trainrt::data
