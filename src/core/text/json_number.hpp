#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace trainrt {

/// Converts a number to JSON. JSON has no NaN and no infinities; in all JSON of trainrt, NaN is null, and the infinities
/// are the strings "Infinity" and "-Infinity".
inline nlohmann::ordered_json json_of_number(double number) {
  if (std::isnan(number)) return nullptr;
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

/// Inverse of json_of_number(): returns the value of a JSON number, NaN for null, and an infinity for "Infinity" or
/// "-Infinity"; nullopt for any other JSON value.
inline std::optional<double> number_of_json(const nlohmann::ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

/// Returns whether `text` is "Infinity" or "-Infinity", with any number of backslashes in front.
inline bool looks_like_infinity(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\\'), text.size()));
  return text == "Infinity" || text == "-Infinity";
}

/// Converts a string to JSON, for a field that may contain a number or a string. A string that looks like an infinity gets
/// a backslash in front, which distinguishes it from the number.
inline nlohmann::ordered_json json_of_text(const std::string& text) {
  return looks_like_infinity(text) ? "\\" + text : text;
}

/// Reverses json_of_text(): removes the backslash in front of a string that looks like an infinity.
inline std::string text_of_json(std::string text) {
  return text.starts_with('\\') && looks_like_infinity(text) ? text.substr(1) : text;
}

}  // namespace trainrt
