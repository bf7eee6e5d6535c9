// The inner loops have a constant length, so that the compiler vectorizes them. Each is compiled twice, for any x86-64 and
// for AVX2. Multiplications are never fused with additions, so both give the same bits.
#include "comm/gradients/gradient_norm.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "comm/reduce.hpp"

namespace trainrt::comm {

namespace {

constexpr std::size_t lanes = 16;
constexpr std::size_t block_elements = 2048;  // f16 and bf16 elements that are widened at a time; a multiple of `lanes`

using Lanes = std::array<double, lanes>;

template <class T>
[[gnu::always_inline]] inline void add_squares_here(const T* values, std::size_t count, double* sums) {
  const auto whole = count / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      sums[lane] += value * value;
    }
  for (auto i = whole; i < count; ++i) sums[i - whole] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
}

template <class T>
[[gnu::always_inline]] inline void multiply_here(T* values, std::size_t count, T factor) {
  const auto whole = count / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) values[i + lane] *= factor;
  for (auto i = whole; i < count; ++i) values[i] *= factor;
}

template <class T>
void add_squares_plain(const T* values, std::size_t count, double* sums) {
  add_squares_here(values, count, sums);
}
template <class T>
void multiply_plain(T* values, std::size_t count, T factor) {
  multiply_here(values, count, factor);
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2")]] void add_squares_wide(const T* values, std::size_t count, double* sums) {
  add_squares_here(values, count, sums);
}
template <class T>
[[gnu::target("avx2")]] void multiply_wide(T* values, std::size_t count, T factor) {
  multiply_here(values, count, factor);
}
bool wide_registers() {
  static const bool there = __builtin_cpu_supports("avx2") != 0;
  return there;
}
#else
template <class T>
void add_squares_wide(const T* values, std::size_t count, double* sums) {
  add_squares_here(values, count, sums);
}
template <class T>
void multiply_wide(T* values, std::size_t count, T factor) {
  multiply_here(values, count, factor);
}
bool wide_registers() { return false; }
#endif

/// Adds the squares of `values` to the partial sums. The number of elements added before must be a multiple of `lanes`.
template <class T>
void add_squares(const T* values, std::size_t count, Lanes& sums) {
  return wide_registers() ? add_squares_wide(values, count, sums.data()) : add_squares_plain(values, count, sums.data());
}

template <class T>
void multiply(T* values, std::size_t count, T factor) {
  return wide_registers() ? multiply_wide(values, count, factor) : multiply_plain(values, count, factor);
}

/// Calls visit(data, number of elements) for consecutive blocks of 16-bit elements.
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
