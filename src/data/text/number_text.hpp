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

inline std::uint64_t eight_bytes(const char* at) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, at, 8);
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  return eight;
}

/// Appends the digits that `at` begins with to those read so far, of which 19 fit; returns where they end. Eight bytes more
/// than the digits can be read.
inline const char* read_digits(const char* at, std::uint64_t& digits) {
  for (;;) {
    const auto eight = eight_bytes(at);
    const auto values = eight - 0x3030303030303030;
    const auto others = ((eight + 0x4646464646464646) | values) & 0x8080808080808080;  // the lowest one set is right
    const auto count = others == 0 ? 8 : std::countr_zero(others) / 8;
    if (count == 0) return at;
    digits = digits * powers_of_ten[static_cast<std::size_t>(count)] + eight_digits(values << (64 - 8 * count));
    at += count;
    if (count < 8) return at;
  }
}

/// The usual number, up to eight digits with a point among them, without its sign: all of it at once. False if [begin, end)
/// is something else. Eight bytes behind it can be read.
inline bool read_short_real(const char* begin, const char* end, double& value) {
  constexpr std::uint64_t points = 0x2E2E2E2E2E2E2E2E, ones = 0x0101010101010101, highs = 0x8080808080808080;
  const auto length = static_cast<std::size_t>(end - begin);
  if (length < 2 || length > 9) return false;
  const auto bytes = eight_bytes(begin), differences = bytes ^ points;
  const auto found = (differences - ones) & ~differences & highs;  // the lowest one set is right
  if (found == 0) return false;
  const auto point = static_cast<std::size_t>(std::countr_zero(found)) / 8, count = length - 1;
  if (point >= length) return false;
  const auto before = (std::uint64_t{1} << (8 * point)) - 1;
  const auto digits = (bytes & before) | (eight_bytes(begin + 1) & ~before);
  const auto values = digits - 0x3030303030303030;
  const auto others = ((digits + 0x4646464646464646) | values) & highs;  // the same
  if ((others & (~std::uint64_t{0} >> (64 - 8 * count))) != 0) return false;
  value = static_cast<double>(eight_digits(values << (64 - 8 * count))) / exact_powers[count - point];
  return true;
}

/// digits / 10^power, rounded to the nearest double, ties to even. `power` is below 20, and `digits` above 2^53.
double divided(std::uint64_t digits, std::size_t power);

/// read_real() of any number.
const char* read_long_real(const char* begin, const char* end, double& value);

/// Reads the decimal number that `begin` begins with, rounded as IEEE 754 wants it; returns where it ends, nullptr if there
/// is none, or none that a double holds. "nan" and "inf" are numbers; "+1" and " 1" are not. *end is no digit, and eight
/// bytes behind it can be read.
inline const char* read_real(const char* begin, const char* end, double& value) {
  const bool negative = *begin == '-';
  if (!read_short_real(begin + negative, end, value)) return read_long_real(begin, end, value);
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | std::uint64_t{negative} << 63);  // no branch to guess
  return end;
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
/// Which of the two it is.
enum class NumberKind : std::uint8_t { none, whole, real };
NumberKind number_kind(std::string_view text);
/// Whether a double holds the number exactly that the text is, if it is a whole number in digits alone: 9007199254740993 is
/// rounded. True of every other text.
bool is_exact_in(std::string_view text);
/// true and false, also with capital letters.
std::optional<bool> truth_in(std::string_view text);

}  // namespace trainrt::data
