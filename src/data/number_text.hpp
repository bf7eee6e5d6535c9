#pragma once
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainrt::data {

/// Reads the decimal number that `begin` begins with, rounded as IEEE 754 wants it; returns where it ends, nullptr if there
/// is none, or none that a double holds. "nan" and "inf" are numbers; "+1" and " 1" are not.
inline const char* read_real(const char* begin, const char* end, double& value) {
  // As long as the digits make an integer below 2^53 and the power of ten is exact, one division rounds correctly
  // (Clinger, "How to read floating point numbers accurately", PLDI 1990).
  static constexpr std::array<double, 23> powers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const bool negative = begin != end && *begin == '-';
  const char* at = begin + negative;
  const char* const first = at;
  std::uint64_t digits = 0;
  for (; at != end && static_cast<unsigned char>(*at - '0') < 10; ++at)
    digits = digits * 10 + static_cast<unsigned>(*at - '0');
  auto count = at - first;
  std::ptrdiff_t fraction = 0;
  if (at != end && *at == '.') {
    const char* const point = at++;
    for (; at != end && static_cast<unsigned char>(*at - '0') < 10; ++at)
      digits = digits * 10 + static_cast<unsigned>(*at - '0');
    fraction = at - point - 1;
    count += fraction;
  }
  const bool has_exponent = at != end && (*at == 'e' || *at == 'E');
  if (count == 0 || count > 18 || digits > (std::uint64_t{1} << 53) || has_exponent) {
    const auto [stop, code] = std::from_chars(begin, end, value);
    return code == std::errc() ? stop : nullptr;
  }
  value = static_cast<double>(digits) / powers[static_cast<std::size_t>(fraction)];
  if (negative) value = -value;
  return at;
}

inline const char* read_integer(const char* begin, const char* end, std::int64_t& value) {
  const bool negative = begin != end && *begin == '-';
  const char* at = begin + negative;
  const char* const first = at;
  std::uint64_t digits = 0;
  for (; at != end && static_cast<unsigned char>(*at - '0') < 10; ++at)
    digits = digits * 10 + static_cast<unsigned>(*at - '0');
  if (at == first) return nullptr;
  if (at - first > 18) {
    const auto [stop, code] = std::from_chars(begin, end, value);
    return code == std::errc() ? stop : nullptr;
  }
  value = negative ? -static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits);
  return at;
}

/// The same of a whole value of a table, with a sign and with spaces around it as well. What is too small for a double is
/// 0.
std::optional<double> real_in(std::string_view text);
std::optional<std::int64_t> integer_in(std::string_view text);
/// true and false, also with capital letters.
std::optional<bool> truth_in(std::string_view text);

}  // namespace trainrt::data
