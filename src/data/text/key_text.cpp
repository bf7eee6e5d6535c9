#include "data/text/key_text.hpp"

#include <cstdint>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/text/field_types.hpp"

namespace trainrt::data {

void require_key(const Dataset::Field& field, const std::string& what) {
  const bool is_text = field.varies && field.dtype == DType::u8;
  const bool is_whole = !field.varies && element_count(field.sample_shape) == 1 &&
                        (field.dtype == DType::i64 || field.dtype == DType::i32 || field.dtype == DType::i16 ||
                         field.dtype == DType::i8 || field.dtype == DType::u8);
  if (!is_text && !is_whole) throw UsageError(what + " is neither an integer nor a text");
}

std::string key_of(const TensorView& values, const Dataset::Field& field) {
  const auto* const data = static_cast<const std::byte*>(values.data);
  if (field.varies) return {reinterpret_cast<const char*>(data), values.bytes()};
  const auto number = integer_at(data, field.dtype);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

}  // namespace trainrt::data
