#pragma once
#include <trainrt/tensor.hpp>

namespace trainrt::comm {

/// The sum of the squares of all elements, in f64. Element i goes into partial sum i modulo 16, and these are added along a
/// tree: the bits depend on the values only. Types: f64, f32, f16, bf16; host memory.
double sum_of_squares(const Buffer& values);

/// values *= factor, f16 and bf16 in f32 and rounded once, to nearest even. The same types; host memory.
void scale(const Buffer& values, double factor);

}  // namespace trainrt::comm
