#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/export.hpp>

namespace trainrt {

/// Element types of tensors. f16 and bf16 are stored as 16-bit patterns (IEEE 754 binary16; the upper half of binary32),
/// f8e4m3 and f8e5m2 as 8-bit ones (Micikevicius et al., "FP8 formats for deep learning", 2022; OCP OFP8).
enum class DType : std::uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u8, boolean };

TRAINRT_API std::size_t size_of(DType dtype);         ///< bytes of one element
TRAINRT_API std::string_view name_of(DType dtype);    ///< "f32", "bool", ...
TRAINRT_API DType dtype_from(std::string_view name);  ///< throws UsageError that lists the valid names

template <class T>
struct dtype_of;
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct dtype_of<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct dtype_of<std::int16_t> {
  static constexpr DType value = DType::i16;
};
template <>
struct dtype_of<std::int8_t> {
  static constexpr DType value = DType::i8;
};
template <>
struct dtype_of<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct dtype_of<bool> {
  static constexpr DType value = DType::boolean;
};

using Shape = std::vector<std::int64_t>;

TRAINRT_API std::int64_t element_count(const Shape& shape);  ///< 1 for a scalar (empty shape)
TRAINRT_API std::string to_string(const Shape& shape);       ///< "[512, 784]"

/// Where memory lies. For cuda the pointer itself tells which GPU (CUDA's unified virtual addressing).
enum class Device : std::uint8_t { host, cuda };

TRAINRT_API std::string_view name_of(Device device);

/// Memory that a backend can reduce in place. It is given back when the last owner goes, the communicator before it or not.
using Memory = std::shared_ptr<std::byte[]>;

/// A view of a contiguous, row-major tensor. It never owns.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Device device = Device::host;

  std::size_t bytes() const { return static_cast<std::size_t>(element_count(shape)) * size_of(dtype); }
};

/// A flat run of elements, what collectives work on. It never owns.
struct Buffer {
  void* data = nullptr;
  std::size_t count = 0;
  DType dtype = DType::f32;
  Device device = Device::host;

  std::size_t bytes() const { return count * size_of(dtype); }
};

/// How elements of several ranks become one.
enum class Op : std::uint8_t { sum, mean, min, max };

TRAINRT_API std::string_view name_of(Op op);

}  // namespace trainrt
