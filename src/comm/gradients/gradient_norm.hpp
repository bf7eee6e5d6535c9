#pragma once
#include <trainrt/tensor.hpp>

namespace trainrt::comm {

/// Returns the sum of the squares of all elements of `values`, computed in f64. `values`: f64, f32, f16 or bf16 in host
/// memory. The order of the additions is fixed, so the bits of the result depend only on the elements: element i is added
/// to partial sum i modulo 16, and the partial sums are added along a binary tree.
double sum_of_squares(const Buffer& values);

/// Multiplies the elements of `values` by `factor`, in place. f16 and bf16 are computed in f32 and rounded once, to nearest
/// even. `values`: f64, f32, f16 or bf16 in host memory.
void scale(const Buffer& values, double factor);

}  // namespace trainrt::comm
