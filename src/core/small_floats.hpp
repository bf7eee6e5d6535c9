#pragma once
#include <cstdint>

namespace trainrt {

// The value of a stored 16- or 8-bit float (tensor.hpp: DType). Every one of them is a float exactly; a NaN stays a NaN.

float from_f16(std::uint16_t bits);
float from_bf16(std::uint16_t bits);
float from_f8e4m3(std::uint8_t bits);  ///< no infinities; 0x7f and 0xff are its NaNs
float from_f8e5m2(std::uint8_t bits);

}  // namespace trainrt
