#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace trainrt::data {

// Functions that parse decimal numbers. The inline functions parse the most common form of real numbers without a function
// call. They may access up to eight bytes after the number, so these bytes must be readable.

constexpr std::array<double, 9> exact_powers = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

/// Returns the number with the eight decimal digits in `digits`. Each byte has the value 0 to 9 of one digit, the first
/// digit in the lowest byte.
inline std::uint64_t eight_digits(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8);  // joins neighbouring digits to numbers of two digits
  return (((digits & 0x000000FF000000FF) * 0x000F424000000064) +
          (((digits >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >>
         32;
}

/// Returns the eight bytes at `at` as an integer. The first byte is the least significant one.
inline std::uint64_t eight_bytes(const char* at) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, at, 8);
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  return eight;
}

/// Reads the real number in [begin, end) if it has the most common form: at most eight digits and a point, without a
/// sign. Returns false and leaves `value` unchanged for any other form.
inline bool read_short_real(const char* begin, const char* end, double& value) {
  constexpr std::uint64_t points = 0x2E2E2E2E2E2E2E2E, ones = 0x0101010101010101, highs = 0x8080808080808080;
  const auto length = static_cast<std::size_t>(end - begin);
  if (length < 2 || length > 9) return false;
  const auto bytes = eight_bytes(begin), differences = bytes ^ points;
  const auto found = (differences - ones) & ~differences & highs;  // only the lowest set bit is reliable
  if (found == 0) return false;
  const auto point = static_cast<std::size_t>(std::countr_zero(found)) / 8, count = length - 1;
  if (point >= length) return false;
  const auto before = (std::uint64_t{1} << (8 * point)) - 1;
  const auto digits = (bytes & before) | (eight_bytes(begin + 1) & ~before);
  const auto values = digits - 0x3030303030303030;
  const auto others = ((digits + 0x4646464646464646) | values) & highs;  // only the lowest set bit is reliable
  if ((others & (~std::uint64_t{0} >> (64 - 8 * count))) != 0) return false;
  // An integer below 2^53 divided by an exact power of ten is rounded correctly.
  value = static_cast<double>(eight_digits(values << (64 - 8 * count))) / exact_powers[count - point];
  return true;
}

/// Does the same as read_real(), but without the fast path for the most common form.
const char* read_long_real(const char* begin, const char* end, double& value);

/// Reads the decimal number at `begin`, and returns the address of the first character after it. The number is rounded
/// to the nearest double, ties to even. A number that is too small for a double is read as 0. Accepts "nan" and "inf",
/// but neither "+1" nor " 1".
///
/// Returns nullptr if there is no number, or if it is too large for a double. Precondition: *end is not a digit.
inline const char* read_real(const char* begin, const char* end, double& value) {
  const bool negative = *begin == '-';
  if (!read_short_real(begin + negative, end, value)) return read_long_real(begin, end, value);
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | std::uint64_t{negative} << 63);  // without a branch
  return end;
}

// real_in() and integer_in() return the number in `text`, which may have a sign, and blanks around it. They return nothing
// if `text` is not a number, is longer than 1024 characters, or is too large for the type. For a number that is too small
// for a double, real_in() returns 0.
std::optional<double> real_in(std::string_view text);
std::optional<std::int64_t> integer_in(std::string_view text);

enum class NumberKind : std::uint8_t { none, whole, real };
/// Returns the kind of number in `text`: NumberKind::whole if integer_in() accepts the text, otherwise NumberKind::real if
/// real_in() accepts it, otherwise NumberKind::none.
NumberKind number_kind(std::string_view text);

/// Returns false if `text` is an integer that a double cannot represent exactly, such as 9007199254740993. Returns true
/// for every other text.
bool is_exact_in(std::string_view text);

/// Returns the boolean in `text`: true, True, TRUE, false, False or FALSE, with blanks around it. Returns nothing for
/// other texts.
std::optional<bool> truth_in(std::string_view text);

}  // namespace trainrt::data
