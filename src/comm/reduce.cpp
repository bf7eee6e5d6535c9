// Reductions of arrays, as loops that the compiler vectorizes. On x86-64, each loop is also compiled for AVX2 with F16C;
// the version is chosen at run time. No multiplication is fused with an addition, so both versions give the same bits.
#include "comm/reduce.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include <trainrt/error.hpp>
#include "core/float16.hpp"

namespace trainrt::comm {

namespace {

/// Number of elements of each array that are combined at a time; a block fits in the L1 cache.
constexpr std::size_t block_elements = 2048;

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

[[gnu::always_inline]] inline float wide(Half h) { return static_cast<float>(std::bit_cast<Float16>(h.bits)); }
[[gnu::always_inline]] inline float wide(Brain b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16); }
template <class T>
[[gnu::always_inline]] inline T wide(T value) {
  return value;
}

template <class T, class Acc>
[[gnu::always_inline]] inline T narrowed(Acc value) {
  if constexpr (std::is_same_v<T, Half>) {
    return Half{std::bit_cast<std::uint16_t>(static_cast<Float16>(value))};
  } else if constexpr (std::is_same_v<T, Brain>) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
    const std::uint32_t quiet_nan = bits | 0x400000U;
    return Brain{static_cast<std::uint16_t>((value != value ? quiet_nan : rounded) >> 16)};
  } else {
    return value;
  }
}

template <class T>
using Accumulator = decltype(wide(T{}));

/// Calls the function body(T{}), where T is the C++ type of `dtype`. Throws UsageError for a type that cannot be reduced.
template <class Body>
decltype(auto) with_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::f64:
      return body(double{});
    case DType::f32:
      return body(float{});
    case DType::f16:
      return body(Half{});
    case DType::bf16:
      return body(Brain{});
    case DType::i64:
      return body(std::int64_t{});
    case DType::i32:
      return body(std::int32_t{});
    default:
      throw UsageError("cannot reduce " + std::string(name_of(dtype)) + "; supported types: f64, f32, f16, bf16, i64, i32");
  }
}

struct Sum {
  template <class T>
  [[gnu::always_inline]] static T of(T lower, T upper) {
    if constexpr (std::is_integral_v<T>) {  // integer overflow wraps around, as in MPI; signed addition would be undefined
                                            // behavior
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(lower) + static_cast<U>(upper));
    } else {
      return lower + upper;
    }
  }
};
struct Min {
  template <class T>
  [[gnu::always_inline]] static T of(T lower, T upper) {
    return upper != upper || upper < lower ? upper : lower;
  }
};
struct Max {
  template <class T>
  [[gnu::always_inline]] static T of(T lower, T upper) {
    return upper != upper || upper > lower ? upper : lower;
  }
};

template <class Body>
decltype(auto) with_op(Op op, Body&& body) {
  if (op == Op::min) return body(Min{});
  if (op == Op::max) return body(Max{});
  return body(Sum{});
}

// --- choice between plain and vectorized loops at run time ------------------------------------------------------------

template <class Loop, class... Args>
[[gnu::noinline]] void plain_loop(std::size_t count, Args... args) {
#pragma GCC ivdep  // arrays are either disjoint or identical, so the iterations are independent
  for (std::size_t i = 0; i < count; ++i) Loop::at(i, args...);
}

#if defined(__x86_64__)
template <class Loop, class... Args>
[[gnu::noinline, gnu::target("avx2,f16c")]] void wide_loop(std::size_t count, Args... args) {
#pragma GCC ivdep  // arrays are either disjoint or identical, so the iterations are independent
  for (std::size_t i = 0; i < count; ++i) Loop::at(i, args...);
}

template <class Loop, class... Args>
void loop(std::size_t count, Args... args) {
  static const bool wide_registers = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("f16c") != 0;
  return wide_registers ? wide_loop<Loop>(count, args...) : plain_loop<Loop>(count, args...);
}
#else
template <class Loop, class... Args>
void loop(std::size_t count, Args... args) {
  plain_loop<Loop>(count, args...);
}
#endif

template <class Operation>
struct Combine {
  template <class T>
  [[gnu::always_inline]] static void at(std::size_t i, T* into, const T* lower, const T* upper) {
    into[i] = Operation::of(lower[i], upper[i]);
  }
};

/// Loop that combines two arrays element by element and writes the result to both arrays in one pass.
template <class Operation>
struct CombineBoth {
  template <class T>
  [[gnu::always_inline]] static void at(std::size_t i, T* lower, T* upper) {
    const T result = Operation::of(lower[i], upper[i]);
    lower[i] = result;
    upper[i] = result;
  }
};
struct MeanBoth {
  template <class T>
  [[gnu::always_inline]] static void at(std::size_t i, T* lower, T* upper) {
    const T result = Sum::of(lower[i], upper[i]) / T{2};
    lower[i] = result;
    upper[i] = result;
  }
};

struct Widen {
  template <class T>
  [[gnu::always_inline]] static void at(std::size_t i, const T* __restrict from, Accumulator<T>* __restrict to) {
    to[i] = wide(from[i]);
  }
};
struct Narrow {
  template <class T>
  [[gnu::always_inline]] static void at(std::size_t i, const Accumulator<T>* from, T* to) {
    to[i] = narrowed<T>(from[i]);
  }
};
struct Divide {
  template <class T>
  [[gnu::always_inline]] static void at(std::size_t i, T* values, T by) {
    values[i] /= by;
  }
};

template <class T>
void reduce_two(T* lower, T* upper, std::size_t count, Op op) {
  if (op == Op::mean) return loop<MeanBoth>(count, lower, upper);
  with_op(op, [&](auto operation) { loop<CombineBoth<decltype(operation)>>(count, lower, upper); });
}

/// Returns the number of elements per block, which are combined at a time. Blocks are smaller if there are many parts, to
/// limit the scratch memory.
std::size_t block_of(std::size_t parts) {
  constexpr std::size_t max_scratch_elements = 64 * block_elements;
  return std::clamp<std::size_t>(max_scratch_elements / (parts + 1), 64, block_elements);
}

/// Returns scratch memory for `elements` elements. Each thread keeps one such buffer and reuses it.
template <class Acc>
Acc* scratch_of(std::size_t elements) {
  thread_local std::vector<Acc> memory;
  if (memory.size() < elements) memory.resize(elements);
  return memory.data();
}

template <class T>
void reduce_block(std::span<const std::byte* const> parts, std::span<std::byte* const> outs, std::size_t first,
                  std::size_t count, Op op, std::span<const TreeStep> steps, int ranks) {
  using Acc = Accumulator<T>;
  auto* scratch = scratch_of<Acc>((parts.size() + 1) * count);
  const auto own = [&](int part) { return scratch + static_cast<std::size_t>(part) * count; };
  thread_local std::vector<const Acc*> at;
  at.resize(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto* input = reinterpret_cast<const T*>(parts[p]) + first;
    if constexpr (std::is_same_v<T, Acc>) {
      at[p] = input;
    } else {
      loop<Widen>(count, input, own(static_cast<int>(p)));
      at[p] = own(static_cast<int>(p));
    }
  }
  with_op(op, [&](auto operation) {
    for (const auto [into, from] : steps) {
      loop<Combine<decltype(operation)>>(count, own(into), at[static_cast<std::size_t>(into)],
                                         at[static_cast<std::size_t>(from)]);
      at[static_cast<std::size_t>(into)] = own(into);
    }
  });
  if (op == Op::mean) {
    auto* result = own(static_cast<int>(parts.size()));
    std::memcpy(result, at[0], count * sizeof(Acc));
    loop<Divide>(count, result, static_cast<Acc>(ranks));
    at[0] = result;
  }
  for (auto* out : outs) {
    auto* output = reinterpret_cast<T*>(out) + first;
    if constexpr (std::is_same_v<T, Acc>) {
      if (output != at[0]) std::memcpy(output, at[0], count * sizeof(T));
    } else {
      loop<Narrow>(count, at[0], output);
    }
  }
}

/// Combines the arrays of two ranks into one output array. Used for small buffers, which each rank reduces completely.
template <class T>
void reduce_two_to(T* out, const T* lower, const T* upper, std::size_t count, Op op) {
  with_op(op, [&](auto operation) { loop<Combine<decltype(operation)>>(count, out, lower, upper); });
  if (op == Op::mean) loop<Divide>(count, out, T{2});
}

bool two_in_place(std::span<const std::byte* const> parts, std::span<std::byte* const> outs, int ranks) {
  return parts.size() == 2 && outs.size() == 2 && ranks == 2 && outs[0] == parts[0] && outs[1] == parts[1];
}

}  // namespace

DType accumulator_of(DType dtype) {
  return with_type(dtype, [&]<class T>(T) { return std::is_same_v<Accumulator<T>, T> ? dtype : DType::f32; });
}

void combine_in_place(std::span<std::byte* const> parts, std::size_t count, DType dtype, Op op,
                      std::span<const TreeStep> steps) {
  with_type(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<Accumulator<T>, T>) {
      const auto part = [&](int number, std::size_t first) {
        return reinterpret_cast<T*>(parts[static_cast<std::size_t>(number)]) + first;
      };
      with_op(op, [&](auto operation) {
        for (std::size_t first = 0; first < count; first += block_elements)
          for (const auto [into, from] : steps)
            loop<Combine<decltype(operation)>>(std::min(block_elements, count - first), part(into, first),
                                               static_cast<const T*>(part(into, first)),
                                               static_cast<const T*>(part(from, first)));
      });
    } else {
      throw Error("combine_in_place: " + std::string(name_of(dtype)) + " must be accumulated in f32");
    }
  });
}

void reduce_to(std::span<const std::byte* const> parts, std::span<std::byte* const> outs, std::size_t count, DType dtype,
               Op op, std::span<const TreeStep> steps, int ranks) {
  with_type(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<Accumulator<T>, T>) {
      if (two_in_place(parts, outs, ranks))
        return reduce_two(reinterpret_cast<T*>(outs[0]), reinterpret_cast<T*>(outs[1]), count, op);
      if (parts.size() == 2 && outs.size() == 1 && ranks == 2)
        return reduce_two_to(reinterpret_cast<T*>(outs[0]), reinterpret_cast<const T*>(parts[0]),
                             reinterpret_cast<const T*>(parts[1]), count, op);
    }
    const auto block = block_of(parts.size());
    for (std::size_t first = 0; first < count; first += block)
      reduce_block<T>(parts, outs, first, std::min(block, count - first), op, steps, ranks);
  });
}

void finish_mean(const Buffer& buffer, Op op, int ranks) {
  if (op != Op::mean) return;
  with_type(buffer.dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<Accumulator<T>, T>)
      loop<Divide>(buffer.count, static_cast<T*>(buffer.data), static_cast<T>(ranks));
  });
}

void widen(const std::byte* from, float* to, std::size_t count, DType from_type) {
  if (from_type == DType::f16) return loop<Widen>(count, reinterpret_cast<const Half*>(from), to);
  loop<Widen>(count, reinterpret_cast<const Brain*>(from), to);
}

void narrow(const float* from, std::byte* to, std::size_t count, DType to_type) {
  if (to_type == DType::f16) return loop<Narrow>(count, from, reinterpret_cast<Half*>(to));
  loop<Narrow>(count, from, reinterpret_cast<Brain*>(to));
}

}  // namespace trainrt::comm
