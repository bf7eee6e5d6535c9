#pragma once
#include <cstdint>

namespace trainrt {

// Functions that convert the bits of a 16- or 8-bit floating-point number (DType in trainrt/tensor.hpp) to a 32-bit float.
// The conversion is exact; a NaN stays a NaN.

float from_f16(std::uint16_t bits);
float from_bf16(std::uint16_t bits);
float from_f8e4m3(std::uint8_t bits);  ///< the format f8e4m3 has no infinities; 0x7f and 0xff are its NaNs
float from_f8e5m2(std::uint8_t bits);

}  // namespace trainrt
