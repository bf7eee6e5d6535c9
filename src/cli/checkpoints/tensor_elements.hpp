#pragma once
#include <cstdint>

#include <trainrt/tensor.hpp>

#include "core/small_floats.hpp"

namespace trainrt::cli {

/// Calls visit(T(), decode) with the C++ type T in which elements of type `dtype` are stored. decode(T) returns the value
/// of an element: std::int64_t for integers and bool, where true is 1, otherwise double.
template <class Visit>
void with_element_type(DType dtype, const Visit& visit) {
  const auto real = [](auto decode) { return [decode](auto bits) -> double { return decode(bits); }; };
  const auto number = [](auto value) -> double { return value; };
  const auto integer = [](auto value) -> std::int64_t { return value; };
  switch (dtype) {
    case DType::f64:
      return visit(double(), number);
    case DType::f32:
      return visit(float(), number);
    case DType::f16:
      return visit(std::uint16_t(), real(from_f16));
    case DType::bf16:
      return visit(std::uint16_t(), real(from_bf16));
    case DType::f8e4m3:
      return visit(std::uint8_t(), real(from_f8e4m3));
    case DType::f8e5m2:
      return visit(std::uint8_t(), real(from_f8e5m2));
    case DType::i64:
      return visit(std::int64_t(), integer);
    case DType::i32:
      return visit(std::int32_t(), integer);
    case DType::i16:
      return visit(std::int16_t(), integer);
    case DType::i8:
      return visit(std::int8_t(), integer);
    case DType::u8:
      return visit(std::uint8_t(), integer);
    case DType::boolean:
      return visit(std::uint8_t(), [](std::uint8_t value) -> std::int64_t { return value != 0 ? 1 : 0; });
  }
}

}  // namespace trainrt::cli
