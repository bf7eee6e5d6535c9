#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

namespace trainrt::cli {

// NumPy's .npy arrays (NumPy Enhancement Proposal 1).

/// NumPy's name of a type, "<f4". bf16 and f8, which it lacks, are float32 there.
std::string_view npy_description(DType dtype);

/// What stands in front of an array's bytes: a Python literal, padded so that these begin at a multiple of 64.
std::string npy_header(std::string_view description, const Shape& shape);

/// bf16 and f8, which NumPy lacks: f32 holds every number of theirs.
bool is_widened(DType dtype);

/// Values of f16, bf16 or f8 as f32, which holds them all. `bytes` begin aligned.
std::vector<float> widened(DType dtype, std::span<const std::byte> bytes);

}  // namespace trainrt::cli
