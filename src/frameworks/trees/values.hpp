#pragma once
#include <cstddef>
#include <cstdint>

#include <trainrt/tensor.hpp>

namespace trainrt::frameworks::trees {

/// Calls use(const T*) with the elements of a tensor, where T is their type, and returns true. Returns false without a
/// call for floating-point types of fewer than 32 bits, which have no type in C++.
template <class Use>
bool with_values(const TensorView& view, const Use& use) {
  switch (view.dtype) {
    case DType::f64:
      return use(static_cast<const double*>(view.data)), true;
    case DType::f32:
      return use(static_cast<const float*>(view.data)), true;
    case DType::i64:
      return use(static_cast<const std::int64_t*>(view.data)), true;
    case DType::i32:
      return use(static_cast<const std::int32_t*>(view.data)), true;
    case DType::i16:
      return use(static_cast<const std::int16_t*>(view.data)), true;
    case DType::i8:
      return use(static_cast<const std::int8_t*>(view.data)), true;
    case DType::u8:
    case DType::boolean:
      return use(static_cast<const std::uint8_t*>(view.data)), true;
    default:
      return false;
  }
}

inline bool is_known_number(DType dtype) {
  return with_values(TensorView{nullptr, dtype, {0}}, [](const auto*) {});
}

}  // namespace trainrt::frameworks::trees
