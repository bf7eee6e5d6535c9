// Sums along the one binary tree over rank numbers, bit for bit as the CPU computes them: a thread an element, every
// addition rounded as IEEE 754 says, none fused (the build passes -fmad=false), f16 and bf16 converted here as there.
#include <cuda_fp16.h>

#include "device/cuda/reduce_parts.hpp"

namespace trainrt::device {

namespace {

constexpr int most_levels = 24;  // of the tree: 16 million ranks
constexpr int threads = 256;

struct Half {
  unsigned short bits;
};
struct Brain {
  unsigned short bits;
};

template <class T>
struct Arithmetic {
  using Accumulator = T;
  static __device__ T wide(T value) { return value; }
  static __device__ T narrow(T value) { return value; }
};
template <>
struct Arithmetic<Half> {
  using Accumulator = float;
  static __device__ float wide(Half h) { return __half2float(__ushort_as_half(h.bits)); }
  static __device__ Half narrow(float value) {
    if (value == value) return {__half_as_ushort(__float2half_rn(value))};
    const unsigned bits = __float_as_uint(value);  // a quiet NaN with what fits of its payload, as x86 does
    return {static_cast<unsigned short>((bits >> 16 & 0x8000u) | 0x7e00u | (bits >> 13 & 0x1ffu))};
  }
};
template <>
struct Arithmetic<Brain> {
  using Accumulator = float;
  static __device__ float wide(Brain b) { return __uint_as_float(static_cast<unsigned>(b.bits) << 16); }
  static __device__ Brain narrow(float value) {
    const unsigned bits = __float_as_uint(value);
    const unsigned rounded = bits + 0x7fffu + (bits >> 16 & 1u);
    return {static_cast<unsigned short>((value == value ? rounded : bits | 0x400000u) >> 16)};
  }
};

template <Op op, class T>
__device__ T combined(T lower, T upper) {
  if constexpr (op == Op::min)
    return upper != upper || upper < lower ? upper : lower;
  else if constexpr (op == Op::max)
    return upper != upper || upper > lower ? upper : lower;
  else
    return lower + upper;
}
template <>
__device__ int combined<Op::sum, int>(int lower, int upper) {  // wraps around, as on the CPU
  return static_cast<int>(static_cast<unsigned>(lower) + static_cast<unsigned>(upper));
}
template <>
__device__ long long combined<Op::sum, long long>(long long lower, long long upper) {
  return static_cast<long long>(static_cast<unsigned long long>(lower) + static_cast<unsigned long long>(upper));
}

/// Ranks are taken in order and combined as the digits of a binary counter carry: whole subtrees as soon as they are there,
/// what is left at the end from the right.
template <Op op, class T>
__global__ void reduce_kernel(const T* parts, std::size_t stride, int ranks, T* out, std::size_t count, int divide_by) {
  using Accumulator = typename Arithmetic<T>::Accumulator;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    Accumulator subtree[most_levels];
    for (int rank = 0; rank < ranks; ++rank) {
      Accumulator value = Arithmetic<T>::wide(parts[static_cast<std::size_t>(rank) * stride + i]);
      int level = 0;
      for (; (rank >> level & 1) != 0; ++level) value = combined<op>(subtree[level], value);
      subtree[level] = value;
    }
    int level = __ffs(ranks) - 1;
    Accumulator result = subtree[level];
    for (++level; ranks >> level != 0; ++level)
      if ((ranks >> level & 1) != 0) result = combined<op>(subtree[level], result);
    if (divide_by != 1) result /= static_cast<Accumulator>(divide_by);
    out[i] = Arithmetic<T>::narrow(result);
  }
}

template <Op op, class T>
cudaError_t launch(const TreeReduction& r, cudaStream_t stream) {
  constexpr std::size_t most_blocks = 4096;  // the kernel strides over the rest
  const auto wanted = (r.count + threads - 1) / threads;
  const auto blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  reduce_kernel<op, T><<<blocks, threads, 0, stream>>>(static_cast<const T*>(r.parts), r.stride, r.ranks,
                                                       static_cast<T*>(r.out), r.count, r.divide_by);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_op(const TreeReduction& r, cudaStream_t stream) {
  if (r.op == Op::min) return launch<Op::min, T>(r, stream);
  if (r.op == Op::max) return launch<Op::max, T>(r, stream);
  return launch<Op::sum, T>(r, stream);
}

}  // namespace

cudaError_t reduce_parts(const TreeReduction& r, cudaStream_t stream) {
  if (r.count == 0) return cudaSuccess;
  switch (r.dtype) {
    case DType::f64:
      return launch_op<double>(r, stream);
    case DType::f32:
      return launch_op<float>(r, stream);
    case DType::f16:
      return launch_op<Half>(r, stream);
    case DType::bf16:
      return launch_op<Brain>(r, stream);
    case DType::i64:
      return launch_op<long long>(r, stream);
    case DType::i32:
      return launch_op<int>(r, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace trainrt::device
