#pragma once
#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

namespace trainrt::view {

/// A whole number that counts something, from 0 up to what a double holds exactly; nullopt if it is none.
inline std::optional<std::int64_t> count_from(const nlohmann::ordered_json& value) {
  constexpr std::uint64_t most = std::uint64_t{1} << 53;
  // The parser takes whole numbers that are not negative as unsigned ones.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) return std::nullopt;
  return value.get<std::int64_t>();
}

}  // namespace trainrt::view
