#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace trainrt::metrics {

/// A double holds every whole number up to here, and down to its negative.
inline constexpr std::int64_t most_exact = std::int64_t{1} << 53;

/// One aggregated report: what a line of result.json holds. Values keep their order. NaN and infinities are allowed here;
/// JSON gets null for NaN.
struct Record {
  using Value = std::variant<double, std::int64_t, std::string>;
  std::int64_t iteration = 0;                         ///< 1 for the first report of a run
  std::vector<std::pair<std::string, Value>> values;  ///< autofilled keys included

  const Value* find(std::string_view key) const {
    for (const auto& [name, value] : values)
      if (name == key) return &value;
    return nullptr;
  }

  /// The key's number of either kind as a real; nullopt if it has none.
  std::optional<double> number(std::string_view key) const {
    const auto* value = find(key);
    return value != nullptr ? real_of(*value) : std::nullopt;
  }
  /// nullopt for a text.
  static std::optional<double> real_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value);
    return real != nullptr ? std::optional(*real) : std::nullopt;
  }
};

}  // namespace trainrt::metrics
