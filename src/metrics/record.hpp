#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace trainrt::metrics {

/// Maximum integer up to which double is exact: a double represents each integer from -`max_exact_integer` to
/// `max_exact_integer`.
inline constexpr std::int64_t max_exact_integer = std::int64_t{1} << 53;

/// One metric record: an aggregated report of the ranks, and the content of one line of result.json. Values keep their
/// order. Numbers may be NaN or infinite; JSON files contain null for NaN.
struct Record {
  using Value = std::variant<double, std::int64_t, std::string>;
  std::int64_t iteration = 0;                         ///< number of the report in the run; 1 for the first
  std::vector<std::pair<std::string, Value>> values;  ///< keys and values, including the keys that trainrt adds

  const Value* find(std::string_view key) const {
    for (const auto& [name, value] : values)
      if (name == key) return &value;
    return nullptr;
  }

  /// Returns the number that the record holds under `key`, converted to double; nullopt if the key is missing or its value
  /// is a string.
  std::optional<double> number(std::string_view key) const {
    const auto* value = find(key);
    return value != nullptr ? real_of(*value) : std::nullopt;
  }
  /// Returns a record's value, converted to double; nullopt if the value is a string.
  static std::optional<double> real_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value);
    return real != nullptr ? std::optional(*real) : std::nullopt;
  }
};

}  // namespace trainrt::metrics
