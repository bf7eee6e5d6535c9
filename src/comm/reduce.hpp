#pragma once
#include <span>

#include <trainrt/communicator.hpp>

#include "comm/tree.hpp"

namespace trainrt::comm {

// Functions that reduce arrays in host memory. f64, f32, i64 and i32 are computed in their own type, f16 and bf16 in f32.
// The minimum or maximum of a NaN and another number is NaN.

/// Returns the type in which partial results for elements of type `dtype` are computed: f32 for f16 and bf16, otherwise
/// `dtype` itself. Throws UsageError for a type that collectives do not reduce.
DType accumulator_of(DType dtype);

/// Performs the reduction steps `steps` in place. Each step combines two of the arrays `parts`, which have `count` elements
/// each. Requires accumulator_of(dtype) == dtype.
void combine_in_place(std::span<std::byte* const> parts, std::size_t count, DType dtype, Op op,
                      std::span<const TreeStep> steps);

/// Performs the reduction steps `steps` on the arrays `parts`, of `count` elements each, and writes the result of parts[0]
/// to each of the arrays `outs`. The outputs may be the parts themselves; no other memory is changed. With Op::mean the
/// result is divided by `ranks`.
void reduce_to(std::span<const std::byte* const> parts, std::span<std::byte* const> outs, std::size_t count, DType dtype,
               Op op, std::span<const TreeStep> steps, int ranks);

/// Divides the sums in `buffer` by the number of ranks if `op` is Op::mean; otherwise does nothing. Requires
/// accumulator_of(buffer.dtype) == buffer.dtype.
void finish_mean(const Buffer& buffer, Op op, int ranks);

/// widen() converts `count` elements of f16 or bf16 to f32. narrow() converts f32 back, and rounds to nearest, ties to
/// even.
void widen(const std::byte* from, float* to, std::size_t count, DType from_type);
void narrow(const float* from, std::byte* to, std::size_t count, DType to_type);

}  // namespace trainrt::comm
