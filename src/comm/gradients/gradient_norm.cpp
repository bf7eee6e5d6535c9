// Norm and scaling of gradients. The inner loops have a constant length, so that the compiler vectorizes them. Each loop is
// compiled twice, for any x86-64 processor and for AVX2. Multiplications are never fused with additions, so both versions
// give the same bits.
#include "comm/gradients/gradient_norm.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "comm/reduce.hpp"

namespace trainrt::comm {

namespace {

constexpr std::size_t lanes = 16;
/// Number of f16 or bf16 elements that are converted to f32 at a time; a multiple of `lanes`.
constexpr std::size_t block_elements = 2048;

using Lanes = std::array<double, lanes>;

/// Loop that adds the squares of `values` to the partial sums `sums`. The number of elements added by earlier calls must be
/// a multiple of `lanes`.
struct AddSquares {
  template <class T>
  [[gnu::always_inline]] static void run(const T* values, std::size_t count, double* sums) {
    const auto even = count / lanes * lanes;
    for (std::size_t i = 0; i < even; i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto value = static_cast<double>(values[i + lane]);
        sums[lane] += value * value;
      }
    for (auto i = even; i < count; ++i) sums[i - even] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
};

struct Multiply {
  template <class T>
  [[gnu::always_inline]] static void run(T* values, std::size_t count, T factor) {
    const auto even = count / lanes * lanes;
    for (std::size_t i = 0; i < even; i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) values[i + lane] *= factor;
    for (auto i = even; i < count; ++i) values[i] *= factor;
  }
};

// --- choice between plain and vectorized loops at run time ---------------------------------------------------------------

template <class Loop, class T, class Arg>
void plain(T* values, std::size_t count, Arg arg) {
  Loop::run(values, count, arg);
}

#if defined(__x86_64__)
template <class Loop, class T, class Arg>
[[gnu::target("avx2")]] void vectorized(T* values, std::size_t count, Arg arg) {
  Loop::run(values, count, arg);
}

template <class Loop, class T, class Arg>
void run_loop(T* values, std::size_t count, Arg arg) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2 ? vectorized<Loop>(values, count, arg) : plain<Loop>(values, count, arg);
}
#else
template <class Loop, class T, class Arg>
void run_loop(T* values, std::size_t count, Arg arg) {
  plain<Loop>(values, count, arg);
}
#endif

template <class T>
void add_squares(const T* values, std::size_t count, Lanes& sums) {
  run_loop<AddSquares>(values, count, sums.data());
}

template <class T>
void multiply(T* values, std::size_t count, T factor) {
  run_loop<Multiply>(values, count, factor);
}

/// Calls visit(data, count) for consecutive blocks of up to `block_elements` elements of `values`, a buffer of 16-bit
/// elements.
template <class Visit>
void for_each_block(const Buffer& values, Visit visit) {
  auto* bytes = static_cast<std::byte*>(values.data);
  for (std::size_t first = 0; first < values.count; first += block_elements)
    visit(bytes + first * size_of(values.dtype), std::min(block_elements, values.count - first));
}

double sum_of(Lanes sums) {
  for (auto width = lanes / 2; width > 0; width /= 2)
    for (std::size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  return sums[0];
}

}  // namespace

double sum_of_squares(const Buffer& values) {
  Lanes sums{};
  if (values.dtype == DType::f64) {
    add_squares(static_cast<const double*>(values.data), values.count, sums);
  } else if (values.dtype == DType::f32) {
    add_squares(static_cast<const float*>(values.data), values.count, sums);
  } else {
    std::array<float, block_elements> wide;
    for_each_block(values, [&](const std::byte* block, std::size_t count) {
      widen(block, wide.data(), count, values.dtype);
      add_squares(wide.data(), count, sums);
    });
  }
  return sum_of(sums);
}

void scale(const Buffer& values, double factor) {
  const auto small = static_cast<float>(factor);
  if (values.dtype == DType::f64) return multiply(static_cast<double*>(values.data), values.count, factor);
  if (values.dtype == DType::f32) return multiply(static_cast<float*>(values.data), values.count, small);
  std::array<float, block_elements> wide;
  for_each_block(values, [&](std::byte* block, std::size_t count) {
    widen(block, wide.data(), count, values.dtype);
    multiply(wide.data(), count, small);
    narrow(wide.data(), block, count, values.dtype);
  });
}

}  // namespace trainrt::comm
