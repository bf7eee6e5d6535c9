#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <trainrt/tensor.hpp>

namespace trainrt::data {

/// The type of the values of a column of a table, or of a key of JSON lines.
struct ValueType {
  DType dtype = DType::u8;
  bool is_text = true;

  static ValueType text() { return {}; }
  static ValueType number(DType dtype) { return {dtype, false}; }
  bool operator==(const ValueType&) const = default;
  static auto packed_members(auto& self) { return std::tie(self.dtype, self.is_text); }
};

std::string name_of(ValueType type);  ///< returns "i64", "text"
/// Returns the type called `name`. Throws UsageError with the valid names for an unknown one.
ValueType value_type(std::string_view name);

/// Types by column name.
using GivenTypes = std::map<std::string, ValueType>;
/// Parses the value of the key `types`: "label: i64, name: text". Throws UsageError, which quotes the item, if an item is
/// invalid.
GivenTypes given_types(std::string_view list);
/// Throws UsageError if the key `columns` or `types` names a column that the file `path` does not have. `columns` and
/// `types` are the values of these keys; `names` are the columns of the file.
void require_known(std::span<const std::string> columns, const GivenTypes& types, std::span<const std::string> names,
                   const std::string& path);

/// The value of the key `vector`: a field that combines all columns that have one number per row.
struct VectorField {
  std::string name;  ///< "" if the key is not set
  DType dtype = DType::f32;
};
/// Parses the key `vector`: "x" or "x: f64". Throws UsageError, which quotes the type, if the type is not numeric.
VectorField vector_field(const std::string& text);

/// The kind of a value in a text file. A type is inferred from the kinds of all values.
enum class Seen : std::uint8_t { missing = 1, boolean = 2, integer = 4, real = 8, text = 16 };

constexpr bool is_real(DType type) { return type == DType::f32 || type == DType::f64; }

// The functions put_...() write a value to `out` as a number of type `type`. They return false if the type cannot
// represent the value. A boolean can represent only 0 and 1.

inline bool put_real(double value, DType type, std::byte* out) {
  if (type == DType::f64) {
    std::memcpy(out, &value, sizeof value);
    return true;
  }
  if (type != DType::f32) return false;
  const auto kept = static_cast<float>(value);
  std::memcpy(out, &kept, sizeof kept);
  return !std::isinf(kept) || std::isinf(value);
}

/// Returns the value of type T at the address `at`. The address need not be aligned.
template <class T>
T loaded(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Returns the value at the address `at`, an integer or a boolean of type `type`.
inline std::int64_t integer_at(const std::byte* at, DType type) {
  switch (type) {
    case DType::i64:
      return loaded<std::int64_t>(at);
    case DType::i32:
      return loaded<std::int32_t>(at);
    case DType::i16:
      return loaded<std::int16_t>(at);
    case DType::i8:
      return loaded<std::int8_t>(at);
    default:
      return loaded<std::uint8_t>(at);
  }
}

template <class T>
bool put_whole(std::int64_t value, std::byte* out) {
  const auto kept = static_cast<T>(value);
  std::memcpy(out, &kept, sizeof kept);
  return kept == value;
}

/// Returns whether a double can represent the integer exactly.
inline bool is_exact(std::int64_t value) {
  constexpr double beyond = 9223372036854775808.0;  // 2^63
  const auto rounded = static_cast<double>(value);
  return rounded < beyond && static_cast<std::int64_t>(rounded) == value;
}

inline bool put_integer(std::int64_t value, DType type, std::byte* out) {
  switch (type) {
    case DType::i64:
      return put_whole<std::int64_t>(value, out);
    case DType::i32:
      return put_whole<std::int32_t>(value, out);
    case DType::i16:
      return put_whole<std::int16_t>(value, out);
    case DType::i8:
      return put_whole<std::int8_t>(value, out);
    case DType::u8:
      return put_whole<std::uint8_t>(value, out);
    case DType::boolean:
      return put_whole<std::uint8_t>(value, out) && value <= 1;
    default:
      return put_real(static_cast<double>(value), type, out);
  }
}

}  // namespace trainrt::data
