#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/export.hpp>

namespace trainrt {

/// The type of a tensor's elements. f16 (IEEE 754 binary16) and bf16 (the upper half of binary32) are stored as 16-bit
/// patterns; f8e4m3 and f8e5m2 as 8-bit patterns (Micikevicius et al., "FP8 formats for deep learning", 2022; OCP OFP8).
enum class DType : std::uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u8, boolean };

TRAINRT_API std::size_t size_of(DType dtype);       ///< returns the number of bytes of one element
TRAINRT_API std::string_view name_of(DType dtype);  ///< returns the name of an element type: "f32", "bool"
/// Returns the element type with the given name, the inverse of name_of(). For an unknown name, throws a UsageError that
/// lists the valid names.
TRAINRT_API DType dtype_from(std::string_view name);

/// The DType that corresponds to a C++ type: dtype_of<float>::value is DType::f32.
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

/// The shape of a tensor: the number of indices along each axis. Empty for a scalar.
using Shape = std::vector<std::int64_t>;

TRAINRT_API std::int64_t element_count(const Shape& shape);  ///< returns the number of elements; 1 for a scalar
TRAINRT_API std::string to_string(const Shape& shape);       ///< returns a shape as text: "[512, 784]"

/// The kind of memory that a pointer refers to. A cuda pointer identifies its GPU (CUDA's unified virtual addressing).
enum class Device : std::uint8_t { host, cuda };

TRAINRT_API std::string_view name_of(Device device);  ///< returns the name of a kind of memory: "host", "cuda"

/// Shared owner of memory from Communicator::allocate(). The memory is released when its last owner is destroyed, which may
/// be after the communicator's destruction.
using Memory = std::shared_ptr<std::byte[]>;

/// A view of a contiguous, row-major tensor. The view does not own the memory.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Device device = Device::host;

  std::size_t bytes() const { return static_cast<std::size_t>(element_count(shape)) * size_of(dtype); }
};

/// A view of contiguous elements, used as the argument of collective operations. The view does not own the memory.
struct Buffer {
  void* data = nullptr;
  std::size_t count = 0;
  DType dtype = DType::f32;
  Device device = Device::host;

  std::size_t bytes() const { return count * size_of(dtype); }
};

/// The reduction that combines the elements of all ranks in an all-reduce or reduce-scatter.
enum class Op : std::uint8_t { sum, mean, min, max };

TRAINRT_API std::string_view name_of(Op op);  ///< returns the name of a reduction: "sum"

}  // namespace trainrt
