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

/// Each part is preceded by its length, so that different keys have different bytes.
std::string key_of(std::span<const TensorView> values, std::span<const Dataset::Field> fields) {
  if (fields.size() == 1) return key_of(values.front(), fields.front());
  std::string key;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto part = key_of(values[i], fields[i]);
    const std::uint64_t length = part.size();
    key.append(reinterpret_cast<const char*>(&length), sizeof length).append(part);
  }
  return key;
}

std::string key_in_words(std::span<const TensorView> values, std::span<const Dataset::Field> fields) {
  std::string words;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& field = fields[i];
    if (i > 0) words += " and ";
    words += field.varies
                 ? fmt::format("{} '{}'", field.name, key_of(values[i], field))
                 : fmt::format("{} {}", field.name, integer_at(static_cast<const std::byte*>(values[i].data), field.dtype));
  }
  return words;
}

}  // namespace trainrt::data
