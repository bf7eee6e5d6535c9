#include "config/value_origin.hpp"

#include <fmt/format.h>

namespace trainrt::config {

std::string origin_prefix(const Options& given, std::string_view key) {
  const auto* value = given.find(key);
  return value == nullptr || value->origin.empty() ? "" : value->origin + ": ";
}

std::string with_origin_of(const Options& given, std::string_view key, std::string_view message) {
  const auto origin = origin_prefix(given, key);
  if (origin.empty() || message.starts_with(key)) return fmt::format("{}{}", origin, message);
  return fmt::format("{}{}: {}", origin, key, message);
}

}  // namespace trainrt::config
