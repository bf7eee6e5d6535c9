#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace trainrt {

/// Returns a number as JSON. JSON has no NaN and no infinities: in all JSON of trainrt, NaN is null and the infinities are
/// the strings "Infinity" and "-Infinity".
inline nlohmann::ordered_json json_of_number(double number) {
  if (std::isnan(number)) return nullptr;
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

/// Returns the number of a result of json_of_number() or of any other JSON number; nullopt for other JSON.
inline std::optional<double> number_of_json(const nlohmann::ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

/// Returns whether `text` is "Infinity" or "-Infinity" after any number of backslashes.
inline bool looks_like_infinity(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\\'), text.size()));
  return text == "Infinity" || text == "-Infinity";
}

/// Returns a string as JSON, for fields that may be a number or a string: a string that looks like an infinity gets a
/// backslash in front.
inline nlohmann::ordered_json json_of_text(const std::string& text) {
  return looks_like_infinity(text) ? "\\" + text : text;
}

/// Returns the string that json_of_text() was called with.
inline std::string text_of_json(std::string text) {
  return text.starts_with('\\') && looks_like_infinity(text) ? text.substr(1) : text;
}

}  // namespace trainrt
