#pragma once
#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

namespace trainrt::view {

/// Returns the value of a JSON integer from 0 to 2^53; a double stores these integers exactly. Returns nullopt for
/// other values.
inline std::optional<std::int64_t> count_from(const nlohmann::ordered_json& value) {
  constexpr std::uint64_t max = std::uint64_t{1} << 53;
  // The parser stores integers that are not negative as unsigned integers.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max) return std::nullopt;
  return value.get<std::int64_t>();
}

}  // namespace trainrt::view
