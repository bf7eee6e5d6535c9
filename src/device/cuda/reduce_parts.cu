// Reductions in GPU memory along the fixed binary tree over rank numbers, with the same bits as on the CPU. Every
// addition is therefore rounded according to IEEE 754 and not fused with a multiplication (the build passes -fmad=false),
// and f16 and bf16 are converted as on the CPU.
//
// Each GPU thread computes complete elements of the result. One iteration computes 16 bytes of the result for sums over 2
// to 8 ranks with aligned memory, otherwise one element.
#include <cuda_fp16.h>

#include <cstdint>
#include <utility>

#include "device/cuda/reduce_parts.hpp"

namespace trainrt::device {

namespace {

constexpr int max_levels = 24;  // maximum number of levels of the reduction tree; enough for 16 million ranks
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
    const unsigned bits = __float_as_uint(value);  // the result is a quiet NaN with the high bits of the payload, as on x86
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

__device__ bool is_nan(float value) { return value != value; }
__device__ bool is_nan(double value) { return value != value; }
template <class T>
__device__ bool is_nan(T) {
  return false;
}

/// Returns the NaN that x86 computes for lower + upper: the first NaN operand, made quiet, or the negative NaN of inf -
/// inf. A GPU's own addition would return the same positive NaN in all cases.
__device__ float nan_of_sum(float lower, float upper) {
  if (is_nan(lower)) return __uint_as_float(__float_as_uint(lower) | 0x400000u);
  return __uint_as_float(is_nan(upper) ? __float_as_uint(upper) | 0x400000u : 0xffc00000u);
}
__device__ double nan_of_sum(double lower, double upper) {
  constexpr long long quiet = 0x8000000000000ll;
  if (is_nan(lower)) return __longlong_as_double(__double_as_longlong(lower) | quiet);
  return __longlong_as_double(is_nan(upper) ? __double_as_longlong(upper) | quiet
                                            : static_cast<long long>(0xfff8000000000000ull));
}
template <class T>
__device__ T nan_of_sum(T lower, T) {
  return lower;
}

template <Op op, class T>
__device__ T combined(T lower, T upper) {
  if constexpr (op == Op::min) {
    return upper != upper || upper < lower ? upper : lower;
  } else if constexpr (op == Op::max) {
    return upper != upper || upper > lower ? upper : lower;
  } else {
    const T sum = lower + upper;
    return is_nan(sum) ? nan_of_sum(lower, upper) : sum;
  }
}
template <>
__device__ int combined<Op::sum, int>(int lower, int upper) {  // integer overflow wraps around, as on the CPU
  return static_cast<int>(static_cast<unsigned>(lower) + static_cast<unsigned>(upper));
}
template <>
__device__ long long combined<Op::sum, long long>(long long lower, long long upper) {
  return static_cast<long long>(static_cast<unsigned long long>(lower) + static_cast<unsigned long long>(upper));
}

/// GPU kernel for any number of ranks; reduces one element per iteration. The parts of the ranks are read in rank order and
/// merged like the carries of a binary counter: a subtree is combined as soon as it is complete. Incomplete subtrees are
/// combined at the end, from right to left.
template <Op op, class T>
__global__ void reduce_kernel(const T* parts, std::size_t stride, int ranks, T* out, std::size_t count, int divide_by) {
  using Accumulator = typename Arithmetic<T>::Accumulator;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    Accumulator subtree[max_levels];
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
    if (divide_by != 1 && !is_nan(result)) result /= static_cast<Accumulator>(divide_by);
    out[i] = Arithmetic<T>::narrow(result);
  }
}

/// Reduces one value per rank along the tree over rank numbers, for a number of ranks known at compile time, with all
/// values in registers. Combines neighbours first, then neighbouring pairs, and so on.
template <Op op, int ranks, class A>
__device__ A along_tree(const A (&values)[ranks]) {
  A left[ranks];
#pragma unroll
  for (int rank = 0; rank < ranks; ++rank) left[rank] = values[rank];
#pragma unroll
  for (int width = 1; width < ranks; width *= 2)
#pragma unroll
    for (int rank = 0; rank + width < ranks; rank += 2 * width) left[rank] = combined<op>(left[rank], left[rank + width]);
  return left[0];
}

constexpr int vector_bytes = 16;

template <class T>
union Vector {
  uint4 bits;
  T elements[vector_bytes / sizeof(T)];
};

/// GPU kernel for a number of ranks known at compile time; reduces one vector of 16 bytes per iteration. `count` and
/// `stride` are numbers of vectors.
template <Op op, class T, int ranks>
__global__ void reduce_vectors(const uint4* parts, std::size_t stride, uint4* out, std::size_t count, int divide_by) {
  using Accumulator = typename Arithmetic<T>::Accumulator;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    Vector<T> loaded[ranks];
#pragma unroll
    for (int rank = 0; rank < ranks; ++rank) loaded[rank].bits = parts[rank * stride + i];
    Vector<T> result;
#pragma unroll
    for (int element = 0; element < vector_bytes / static_cast<int>(sizeof(T)); ++element) {
      Accumulator values[ranks];
#pragma unroll
      for (int rank = 0; rank < ranks; ++rank) values[rank] = Arithmetic<T>::wide(loaded[rank].elements[element]);
      Accumulator sum = along_tree<op, ranks>(values);
      if (divide_by != 1 && !is_nan(sum)) sum /= static_cast<Accumulator>(divide_by);
      result.elements[element] = Arithmetic<T>::narrow(sum);
    }
    out[i] = result.bits;
  }
}

unsigned blocks_for(std::size_t work) {
  // The maximum number of thread blocks. With more work, each thread runs several iterations.
  constexpr std::size_t max_blocks = 4096;
  const auto wanted = (work + threads - 1) / threads;
  return static_cast<unsigned>(wanted < max_blocks ? wanted : max_blocks);
}

bool is_aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % vector_bytes == 0; }

/// Launches reduce_vectors() if `r` reduces the parts of `ranks` ranks and their memory is aligned to 16 bytes. Returns the
/// number of elements that the kernel reduces: all except the last ones that do not fill a vector, or 0 if the kernel was
/// not launched.
template <Op op, class T, int ranks>
std::size_t launch_vectors(const TreeReduction& r, cudaStream_t stream) {
  constexpr std::size_t width = vector_bytes / sizeof(T);
  if (r.ranks != ranks || r.stride % width != 0 || !is_aligned(r.parts) || !is_aligned(r.out)) return 0;
  const auto vectors = r.count / width;
  if (vectors == 0) return 0;
  reduce_vectors<op, T, ranks><<<blocks_for(vectors), threads, 0, stream>>>(
      static_cast<const uint4*>(r.parts), r.stride / width, static_cast<uint4*>(r.out), vectors, r.divide_by);
  return vectors * width;
}

template <Op op, class T, int... fewer>
std::size_t launch_for_few(const TreeReduction& r, cudaStream_t stream, std::integer_sequence<int, fewer...>) {
  return (launch_vectors<op, T, fewer + 2>(r, stream) + ...);
}

template <Op op, class T>
cudaError_t launch(const TreeReduction& r, cudaStream_t stream) {
  std::size_t done = 0;
  if constexpr (op == Op::sum)  // sums of gradients must be fast, so reduce_vectors() is used
    done = launch_for_few<op, T>(r, stream, std::make_integer_sequence<int, 7>());  // for 2 to 8 ranks
  if (const auto left = r.count - done; left > 0)
    reduce_kernel<op, T><<<blocks_for(left), threads, 0, stream>>>(static_cast<const T*>(r.parts) + done, r.stride, r.ranks,
                                                                   static_cast<T*>(r.out) + done, left, r.divide_by);
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
