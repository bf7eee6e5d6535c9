#include "comm/reduce.hpp"

#include <cmath>
#include <type_traits>

#include <trainrt/error.hpp>

namespace trainrt::comm {

namespace {

template <class Function>
void with_type(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::f64:
      return function(double{});
    case DType::f32:
      return function(float{});
    case DType::i64:
      return function(std::int64_t{});
    case DType::i32:
      return function(std::int32_t{});
    default:
      throw UsageError("cannot reduce " + std::string(name_of(dtype)) + "; the types are f64, f32, i64, i32");
  }
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <class T>
void combine_typed(T* __restrict lower, const T* __restrict upper, std::size_t count, Op op) {
  switch (op) {
    case Op::sum:
    case Op::mean:
      for (std::size_t i = 0; i < count; ++i) lower[i] += upper[i];
      return;
    case Op::min:
      for (std::size_t i = 0; i < count; ++i)
        if (is_nan(upper[i]) || upper[i] < lower[i]) lower[i] = upper[i];
      return;
    case Op::max:
      for (std::size_t i = 0; i < count; ++i)
        if (is_nan(upper[i]) || upper[i] > lower[i]) lower[i] = upper[i];
      return;
  }
}

}  // namespace

void require_reducible(DType dtype) {
  with_type(dtype, [](auto) {});
}

void combine(const Buffer& lower, const void* upper, Op op) {
  with_type(lower.dtype, [&](auto zero) {
    using T = decltype(zero);
    combine_typed(static_cast<T*>(lower.data), static_cast<const T*>(upper), lower.count, op);
  });
}

void combine_tree(std::span<std::byte* const> parts, const Buffer& shape, Op op) {
  for (std::size_t stride = 1; stride < parts.size(); stride *= 2)
    for (std::size_t i = 0; i + stride < parts.size(); i += 2 * stride)
      combine(Buffer{parts[i], shape.count, shape.dtype}, parts[i + stride], op);
}

void finish_mean(const Buffer& buffer, int size) {
  with_type(buffer.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* values = static_cast<T*>(buffer.data);
    for (std::size_t i = 0; i < buffer.count; ++i) values[i] /= static_cast<T>(size);
  });
}

}  // namespace trainrt::comm
