#pragma once
#include <span>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// lower = lower (op) upper, element by element; sum for mean. Types f64, f32, i64, i32; others throw UsageError.
/// min and max: NaN wins, whichever side holds it.
void combine(const Buffer& lower, const void* upper, Op op);

/// Reduces parts[0..n) into parts[0] by the one tree over rank numbers: neighbours first, then pairs of pairs, ... (the
/// others are overwritten). All have `shape.count` elements of shape.dtype.
void combine_tree(std::span<std::byte* const> parts, const Buffer& shape, Op op);

/// The end of a mean: divides by the number of ranks.
void finish_mean(const Buffer& buffer, int size);

/// Throws UsageError for a type that collectives do not reduce.
void require_reducible(DType dtype);

}  // namespace trainrt::comm
