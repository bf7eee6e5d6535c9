#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/preprocessor.hpp>

#include "data/source/source.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

/// Calls function(span<const T>) with all numbers of the column, of its type; bool as u8. Not of 8- and 16-bit floats.
template <class Function>
void with_numbers(DType dtype, std::span<const std::byte> values, Function&& function) {
  const auto as = [&]<class T>(T) {
    function(std::span<const T>(reinterpret_cast<const T*>(values.data()), values.size() / sizeof(T)));
  };
  switch (dtype) {
    case DType::f64:
      return as(double());
    case DType::f32:
      return as(float());
    case DType::i64:
      return as(std::int64_t());
    case DType::i32:
      return as(std::int32_t());
    case DType::i16:
      return as(std::int16_t());
    case DType::i8:
      return as(std::int8_t());
    default:
      return as(std::uint8_t());
  }
}

inline bool is_text(const Dataset::Field& field) { return field.varies && field.dtype == DType::u8; }
inline bool is_real(DType dtype) { return dtype == DType::f64 || dtype == DType::f32; }

/// The bytes of a sample of a field that varies in length.
inline std::string_view text_at(const Table::Column& column, std::size_t sample) {
  const auto first = sample == 0 ? 0 : column.ends[sample - 1];
  return {reinterpret_cast<const char*>(column.values.data()) + first, column.ends[sample] - first};
}

/// A number a sample, as f64.
inline std::vector<double> doubles_of(const Table::Column& column) {
  std::vector<double> made;
  with_numbers(column.field.dtype, column.values, [&made](auto values) { made.assign(values.begin(), values.end()); });
  return made;
}

/// What a column of numbers becomes: f32 stays f32, all else is f64.
inline DType real_of(DType dtype) { return dtype == DType::f32 ? DType::f32 : DType::f64; }

/// Makes of `function(i)`, a f64, the numbers of a column of f32 or f64: rounded once.
template <class Function>
void fill_reals(Table::Column& to, std::size_t count, Function&& function) {
  to.values.resize(count * size_of(to.field.dtype));
  if (to.field.dtype == DType::f32) {
    auto* const out = reinterpret_cast<float*>(to.values.data());
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(function(i));
  } else {
    auto* const out = reinterpret_cast<double*>(to.values.data());
    for (std::size_t i = 0; i < count; ++i) out[i] = function(i);
  }
}

/// UsageError unless the field holds one number a sample.
inline void require_number(const Dataset::Field& field) {
  if (is_text(field)) throw UsageError(fmt::format("column '{}' holds texts; it must hold numbers", field.name));
  if (field.varies || !field.sample_shape.empty())
    throw UsageError(fmt::format("column '{}' holds arrays{}; it must hold a number a sample", field.name,
                                 field.varies ? "" : " of the shape " + to_string(field.sample_shape)));
  if (!is_plain_number(field.dtype))
    throw UsageError(fmt::format("column '{}' holds {}; cast it to f32", field.name, name_of(field.dtype)));
}

inline void require_text(const Dataset::Field& field) {
  if (!is_text(field))
    throw UsageError(fmt::format("column '{}' holds {}; it must hold texts", field.name, name_of(field.dtype)));
}

}  // namespace trainrt::data
