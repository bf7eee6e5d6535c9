#include "view/page/number_texts.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/text/text.hpp"

namespace trainrt::view::page {

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "∞" : "-∞";
  return fmt::format("{:.6g}", number);
}

std::string step_time_text(double microseconds) {
  if (!std::isfinite(microseconds)) return "-";
  if (microseconds < 1e3) return fmt::format("{:.0f} µs", microseconds);
  return microseconds < 1e6 ? fmt::format("{:.3g} ms", microseconds / 1e3) : fmt::format("{:.3g} s", microseconds / 1e6);
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  return seconds < 60 ? fmt::format("{:.3g} s", seconds) : clock_text(seconds);
}

std::string exact_text(const metrics::Record::Value& value) {
  if (const auto* real = std::get_if<double>(&value); real != nullptr && !std::isfinite(*real)) return number_text(*real);
  return std::visit([](const auto& shown) { return fmt::format("{}", shown); }, value);
}

}  // namespace trainrt::view::page
