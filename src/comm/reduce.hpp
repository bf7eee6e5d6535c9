#pragma once
#include <span>

#include <trainrt/communicator.hpp>

#include "comm/tree.hpp"

namespace trainrt::comm {

// The arithmetic of reductions. f64, f32, i64 and i32 are combined in their own type, f16 and bf16 in f32. min and max: NaN
// wins, whichever side holds it.

/// What partial sums of that type are held in: f32 for f16 and bf16, else the type itself. UsageError for a type that
/// collectives do not reduce.
DType accumulator_of(DType dtype);

/// parts[into] = parts[into] (op) parts[from] for each step, in place. `dtype` is one that accumulates in itself.
void combine_in_place(std::span<std::byte* const> parts, std::size_t count, DType dtype, Op op,
                      std::span<const TreeStep> steps);

/// Combines the parts by the steps and writes parts[0]'s result to every one of `outs`, which may be the parts themselves.
/// `ranks` divides a mean. Nothing else is changed.
void reduce_to(std::span<const std::byte* const> parts, std::span<std::byte* const> outs, std::size_t count, DType dtype,
               Op op, std::span<const TreeStep> steps, int ranks);

/// The end of a mean: divides by the number of ranks. Other operations: nothing.
void finish_mean(const Buffer& buffer, Op op, int ranks);

/// f16 or bf16 into f32 and back, to nearest even.
void widen(const std::byte* from, float* to, std::size_t count, DType from_type);
void narrow(const float* from, std::byte* to, std::size_t count, DType to_type);

}  // namespace trainrt::comm
