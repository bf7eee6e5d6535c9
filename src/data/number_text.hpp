#pragma once
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace trainrt::data {

/// The number that eight digits are, each as its value in a byte, the first one lowest.
inline std::uint64_t eight_digits(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8);  // pairs
  return (((digits & 0x000000FF000000FF) * 0x000F424000000064) +
          (((digits >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >>
         32;
}

constexpr std::array<std::uint64_t, 20> powers_of_ten = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

constexpr std::array<double, 20> exact_powers = [] {
  std::array<double, 20> powers{};
  for (std::size_t i = 0; i < powers.size(); ++i) powers[i] = static_cast<double>(powers_of_ten[i]);
  return powers;
}();

/// Appends the digits that `at` begins with to those read so far, of which 19 fit; returns where they end. Eight bytes more
/// than the digits can be read.
inline const char* read_digits(const char* at, std::uint64_t& digits) {
  for (;;) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, 8);
    if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
    const auto values = eight - 0x3030303030303030;
    const auto others = ((eight + 0x4646464646464646) | values) & 0x8080808080808080;  // the lowest one set is right
    const auto count = others == 0 ? 8 : std::countr_zero(others) / 8;
    if (count == 0) return at;
    digits = digits * powers_of_ten[static_cast<std::size_t>(count)] + eight_digits(values << (64 - 8 * count));
    at += count;
    if (count < 8) return at;
  }
}

/// digits / 10^power, rounded to the nearest double, ties to even. `power` is below 20, and `digits` above 2^53.
double divided(std::uint64_t digits, std::size_t power);

/// Reads the decimal number that `begin` begins with, rounded as IEEE 754 wants it; returns where it ends, nullptr if there
/// is none, or none that a double holds. "nan" and "inf" are numbers; "+1" and " 1" are not. *end is no digit, and eight
/// bytes behind it can be read.
inline const char* read_real(const char* begin, const char* end, double& value) {
  // As long as the digits make an integer below 2^53 and the power of ten is exact, one division rounds correctly
  // (Clinger, "How to read floating point numbers accurately", PLDI 1990).
  const bool negative = *begin == '-';
  const char* const first = begin + negative;
  std::uint64_t digits = 0;
  const char* at = read_digits(first, digits);
  auto count = at - first;
  std::size_t fraction = 0;
  if (*at == '.' && at != end) {
    const char* const point = at;
    at = read_digits(point + 1, digits);
    fraction = static_cast<std::size_t>(at - point - 1);
    count = at - first - 1;
  }
  if (count == 0 || count > 19 || at != end) {
    const auto [stop, code] = std::from_chars(begin, end, value);
    return code == std::errc() ? stop : nullptr;
  }
  value =
      digits <= std::uint64_t{1} << 53 ? static_cast<double>(digits) / exact_powers[fraction] : divided(digits, fraction);
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | std::uint64_t{negative} << 63);  // no branch to guess
  return at;
}

/// The same of a whole number.
inline const char* read_integer(const char* begin, const char* end, std::int64_t& value) {
  const bool negative = *begin == '-';
  const char* const first = begin + negative;
  std::uint64_t digits = 0;
  const char* const at = read_digits(first, digits);
  if (at == first) return nullptr;
  if (at - first > 18) {
    const auto [stop, code] = std::from_chars(begin, end, value);
    return code == std::errc() ? stop : nullptr;
  }
  const auto sign = std::uint64_t{negative};
  value = static_cast<std::int64_t>((digits ^ (0 - sign)) + sign);
  return at;
}

/// The number that a text is as a whole, with a sign and with spaces around it as well. What is too small for a double is
/// 0.
std::optional<double> real_in(std::string_view text);
std::optional<std::int64_t> integer_in(std::string_view text);
/// true and false, also with capital letters.
std::optional<bool> truth_in(std::string_view text);

}  // namespace trainrt::data
