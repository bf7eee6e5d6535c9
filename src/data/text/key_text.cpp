#include "data/text/key_text.hpp"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

template <class T>
std::int64_t whole_number(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::int64_t number_of_key(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::i64:
      return whole_number<std::int64_t>(at);
    case DType::i32:
      return whole_number<std::int32_t>(at);
    case DType::i16:
      return whole_number<std::int16_t>(at);
    case DType::i8:
      return whole_number<std::int8_t>(at);
    default:
      return whole_number<std::uint8_t>(at);
  }
}

}  // namespace

void require_key(const Dataset::Field& field, const std::string& what) {
  const bool is_text = field.varies && field.dtype == DType::u8;
  const bool is_whole = !field.varies && element_count(field.sample_shape) == 1 &&
                        (field.dtype == DType::i64 || field.dtype == DType::i32 || field.dtype == DType::i16 ||
                         field.dtype == DType::i8 || field.dtype == DType::u8);
  if (!is_text && !is_whole) throw UsageError(what + " is neither a whole number nor a text");
}

std::string key_of(const TensorView& values, const Dataset::Field& field) {
  const auto* const data = static_cast<const std::byte*>(values.data);
  if (field.varies) return {reinterpret_cast<const char*>(data), values.bytes()};
  const auto number = number_of_key(data, field.dtype);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

}  // namespace trainrt::data
