#include "cli/files/npy_array.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "core/small_floats.hpp"

namespace trainrt::cli {

namespace {

template <class Bits>
std::vector<float> floats_of(std::span<const std::byte> bytes, float (*decode)(Bits)) {
  std::vector<float> floats(bytes.size() / sizeof(Bits));
  const auto* bits = reinterpret_cast<const Bits*>(bytes.data());  // aligned, see widened()
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = decode(bits[i]);
  return floats;
}

}  // namespace

bool is_widened(DType dtype) { return dtype == DType::bf16 || dtype == DType::f8e4m3 || dtype == DType::f8e5m2; }

std::string_view npy_description(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "<f8";
    case DType::f16:
      return "<f2";
    case DType::f32:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return "<f4";
    case DType::i64:
      return "<i8";
    case DType::i32:
      return "<i4";
    case DType::i16:
      return "<i2";
    case DType::i8:
      return "|i1";
    case DType::u8:
      return "|u1";
    case DType::boolean:
      return "|b1";
  }
  return "";
}

std::string npy_header(std::string_view description, const Shape& shape) {
  auto dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", description,
                                fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t preamble = 10;  // magic string, version, and length of the dictionary
  dictionary.append(63 - (preamble + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() % 256);
  header += static_cast<char>(dictionary.size() / 256);
  return header + dictionary;
}

std::vector<float> widened(DType dtype, std::span<const std::byte> bytes) {
  if (dtype == DType::f16) return floats_of(bytes, from_f16);
  if (dtype == DType::bf16) return floats_of(bytes, from_bf16);
  return floats_of(bytes, dtype == DType::f8e4m3 ? from_f8e4m3 : from_f8e5m2);
}

}  // namespace trainrt::cli
