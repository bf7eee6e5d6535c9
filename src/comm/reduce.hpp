#pragma once
#include <span>

#include <trainrt/communicator.hpp>

#include "comm/tree.hpp"

namespace trainrt::comm {

// The arithmetic of reductions in host memory. f64, f32, i64 and i32 are combined in their own type, f16 and bf16 in f32.
// The minimum or maximum of a NaN and another number is NaN.

/// Returns the type of partial results: f32 for f16 and bf16, otherwise `dtype` itself. Throws UsageError for a type that
/// collectives do not reduce.
DType accumulator_of(DType dtype);

/// Performs the steps in place, on parts of `count` elements. Requires accumulator_of(dtype) == dtype.
void combine_in_place(std::span<std::byte* const> parts, std::size_t count, DType dtype, Op op,
                      std::span<const TreeStep> steps);

/// Combines the parts, `count` elements each, by the steps and writes the result of parts[0] to each of `outs`, which may
/// be the parts themselves. No other memory is changed. With Op::mean the result is divided by `ranks`.
void reduce_to(std::span<const std::byte* const> parts, std::span<std::byte* const> outs, std::size_t count, DType dtype,
               Op op, std::span<const TreeStep> steps, int ranks);

/// Divides the sums in `buffer` by the number of ranks if `op` is Op::mean. Does nothing for other operations.
void finish_mean(const Buffer& buffer, Op op, int ranks);

/// Convert `count` elements of f16 or bf16 to f32 and back. narrow() rounds to nearest, ties to even.
void widen(const std::byte* from, float* to, std::size_t count, DType from_type);
void narrow(const float* from, std::byte* to, std::size_t count, DType to_type);

}  // namespace trainrt::comm
