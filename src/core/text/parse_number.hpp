#pragma once
#include <charconv>
#include <optional>
#include <string_view>

namespace trainrt {

/// Parses the complete `text` as a number, as std::from_chars does; returns nullopt if `text` is not a number or has
/// further characters. Pure function.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const auto* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace trainrt
