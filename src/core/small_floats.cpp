#include "core/small_floats.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace trainrt {

namespace {

/// A binary floating-point format with sign, exponent and mantissa. If `ieee` is true, an exponent of all ones means an
/// infinity or a NaN. If `ieee` is false, there are no infinities, and a number whose exponent and mantissa are all ones is
/// a NaN.
struct Format {
  unsigned exponent_bits;
  unsigned mantissa_bits;
  int bias;
  bool ieee;
};

float decode(unsigned bits, const Format& format) {
  const unsigned mantissa_mask = (1U << format.mantissa_bits) - 1;
  const unsigned exponent_mask = (1U << format.exponent_bits) - 1;
  const unsigned mantissa = bits & mantissa_mask;
  const unsigned exponent = (bits >> format.mantissa_bits) & exponent_mask;
  const bool negative = (bits >> (format.mantissa_bits + format.exponent_bits)) != 0;
  const auto shift = static_cast<int>(format.mantissa_bits);
  float value = 0;
  if (exponent == exponent_mask && (format.ieee || mantissa == mantissa_mask))
    value = format.ieee && mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), 1 - format.bias - shift);
  else
    value = std::ldexp(static_cast<float>(mantissa + mantissa_mask + 1), static_cast<int>(exponent) - format.bias - shift);
  return std::copysign(value, negative ? -1.0F : 1.0F);
}

std::vector<float> table_of(std::size_t count, const Format& format) {
  std::vector<float> table(count);
  for (std::size_t bits = 0; bits < count; ++bits) table[bits] = decode(static_cast<unsigned>(bits), format);
  return table;
}

}  // namespace

float from_f16(std::uint16_t bits) {
  static const auto table = table_of(65536, {5, 10, 15, true});
  return table[bits];
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

float from_f8e4m3(std::uint8_t bits) {
  static const auto table = table_of(256, {4, 3, 7, false});
  return table[bits];
}

float from_f8e5m2(std::uint8_t bits) {
  static const auto table = table_of(256, {5, 2, 15, true});
  return table[bits];
}

}  // namespace trainrt
