#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace trainrt::metrics {

/// A double represents all integers from -`max_exact_integer` to `max_exact_integer` exactly.
inline constexpr std::int64_t max_exact_integer = std::int64_t{1} << 53;

/// One aggregated report: the content of a line of result.json. Values keep their order. They may be NaN or infinite; JSON
/// files contain null for NaN.
struct Record {
  using Value = std::variant<double, std::int64_t, std::string>;
  std::int64_t iteration = 0;                         ///< 1 for the first report of a run
  std::vector<std::pair<std::string, Value>> values;  ///< including autofilled keys

  const Value* find(std::string_view key) const {
    for (const auto& [name, value] : values)
      if (name == key) return &value;
    return nullptr;
  }

  /// Returns the number under `key`, converted to double; nullopt if the key is missing or holds a text.
  std::optional<double> number(std::string_view key) const {
    const auto* value = find(key);
    return value != nullptr ? real_of(*value) : std::nullopt;
  }
  /// Returns the number in `value`, converted to double; nullopt if it is a text.
  static std::optional<double> real_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value);
    return real != nullptr ? std::optional(*real) : std::nullopt;
  }
};

}  // namespace trainrt::metrics
