#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/preprocessor.hpp>

#include "data/source/source.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

// Functions that access the values of columns as C++ numbers or texts.

/// Calls function(span<const T>) with all values of a column; T is the C++ type for `dtype`, and std::uint8_t for bools.
/// Precondition: `dtype` is not an 8- or 16-bit float.
template <class Function>
void with_numbers(DType dtype, std::span<const std::byte> values, Function&& function) {
  call_with_type(dtype, [&]<class T>(T) {
    function(std::span<const T>(reinterpret_cast<const T*>(values.data()), values.size() / sizeof(T)));
  });
}

inline bool is_text(const Dataset::Field& field) {
  return field.varies && field.dtype == DType::u8 && field.sample_shape.empty();
}

/// Returns the bytes of one sample of a field that varies in length.
inline std::string_view text_at(const Table::Column& column, std::size_t sample) {
  const auto first = sample == 0 ? 0 : column.ends[sample - 1];
  return {reinterpret_cast<const char*>(column.values.data()) + first, column.ends[sample] - first};
}

/// Returns all numbers of a column as f64.
inline std::vector<double> doubles_of(const Table::Column& column) {
  std::vector<double> doubles;
  with_numbers(column.field.dtype, column.values, [&](auto values) { doubles.assign(values.begin(), values.end()); });
  return doubles;
}

/// Returns the type of the output of a column if the output has real numbers: f32 for an f32 column, otherwise f64.
inline DType real_of(DType dtype) { return dtype == DType::f32 ? DType::f32 : DType::f64; }

/// Sets `to` to `count` zeros of type T and returns a pointer to them.
template <class T>
T* zeroed(Table::Column& to, std::size_t count) {
  to.values.assign(count * sizeof(T), std::byte{0});
  return reinterpret_cast<T*>(to.values.data());
}

/// Sets a column of f32 or f64 to the values function(0), function(1), and so on. Each result, an f64, is rounded to the
/// type of the column.
template <class Function>
void fill_reals(Table::Column& to, std::size_t count, Function&& function) {
  const auto fill = [&]<class T>(T* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(function(i));
  };
  to.field.dtype == DType::f32 ? fill(zeroed<float>(to, count)) : fill(zeroed<double>(to, count));
}

/// require_number() throws UsageError, which names the field, unless each of its samples is one number. require_text()
/// throws UsageError unless each of its samples is a text.
inline void require_number(const Dataset::Field& field) {
  if (is_text(field)) throw UsageError(fmt::format("column '{}' contains texts; it must contain numbers", field.name));
  if (field.varies || !field.sample_shape.empty())
    throw UsageError(fmt::format("column '{}' contains arrays{}; it must contain one number per sample", field.name,
                                 field.varies ? "" : " of shape " + to_string(field.sample_shape)));
  if (!is_plain_number(field.dtype))
    throw UsageError(fmt::format("column '{}' contains {}, which preprocessors do not support; cast the column to f32",
                                 field.name, name_of(field.dtype)));
}

inline void require_text(const Dataset::Field& field) {
  if (!is_text(field))
    throw UsageError(fmt::format("column '{}' contains {}; it must contain texts", field.name, name_of(field.dtype)));
}

}  // namespace trainrt::data
