#include "core/short_number.hpp"

#include <fmt/format.h>

#include "core/options.hpp"

namespace trainrt {

std::string short_number(const std::string& text) {
  const auto number = parse_real(text);
  if (!number || parse_integer(text)) return text;
  auto shown = fmt::format("{:.6g}", *number);
  return shown.size() < text.size() ? shown : text;
}

}  // namespace trainrt
