#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

namespace trainrt::cli {

// Functions for NumPy's .npy format (NumPy Enhancement Proposal 1). NumPy has no bf16 and f8, so that such values are
// converted to f32, which represents each of them exactly.

/// Returns NumPy's name of a data type, such as "<f4". bf16 and f8 have the name of f32.
std::string_view npy_description(DType dtype);

/// Returns the header of a .npy file: a Python literal, padded so that the array begins at a multiple of 64 bytes.
std::string npy_header(std::string_view description, const Shape& shape);

/// Returns whether values of this type must be converted to f32 for NumPy: true for bf16 and f8.
bool is_widened(DType dtype);

/// Converts values of f16, bf16 or f8 to f32. `bytes` must be aligned for their type.
std::vector<float> widened(DType dtype, std::span<const std::byte> bytes);

}  // namespace trainrt::cli
