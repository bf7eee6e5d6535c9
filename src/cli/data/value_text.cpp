#include "cli/data/value_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/small_floats.hpp"
#include "core/text/display_width.hpp"

namespace trainrt::cli::datasets {

namespace {

template <class T>
T value_as(const std::byte* value) {
  T made;
  std::memcpy(&made, value, sizeof made);
  return made;
}

template <class T>
void append_integer(std::string& text, const std::byte* value) {
  std::array<char, 24> digits;
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), value_as<T>(value));
  text.append(digits.data(), end);
}

template <class T>
void append_real(std::string& text, T value) {
  if (std::isnan(value)) return void(text += "nan");
  if (std::isinf(value)) return void(text += value > 0 ? "inf" : "-inf");
  std::array<char, 40> digits;
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  const std::string_view shortest(digits.data(), static_cast<std::size_t>(end - digits.data()));
  text += shortest;
  if (shortest.find_first_of(".e") == shortest.npos) text += ".0";
}

/// Returns a value of a floating-point type; 0 for other types.
double real_at(const std::byte* value, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return value_as<double>(value);
    case DType::f32:
      return value_as<float>(value);
    case DType::f16:
      return from_f16(value_as<std::uint16_t>(value));
    case DType::bf16:
      return from_bf16(value_as<std::uint16_t>(value));
    case DType::f8e4m3:
      return from_f8e4m3(value_as<std::uint8_t>(value));
    case DType::f8e5m2:
      return from_f8e5m2(value_as<std::uint8_t>(value));
    default:
      return 0;
  }
}

}  // namespace

void append_number(std::string& text, const std::byte* value, DType dtype) {
  switch (dtype) {
    case DType::i64:
      return append_integer<std::int64_t>(text, value);
    case DType::i32:
      return append_integer<std::int32_t>(text, value);
    case DType::i16:
      return append_integer<std::int16_t>(text, value);
    case DType::i8:
      return append_integer<std::int8_t>(text, value);
    case DType::u8:
      return append_integer<std::uint8_t>(text, value);
    case DType::boolean:
      return void(text += *value != std::byte{0} ? "true" : "false");
    case DType::f64:
      return append_real(text, value_as<double>(value));
    default:
      return append_real(text, static_cast<float>(real_at(value, dtype)));
  }
}

bool is_nan(const std::byte* value, DType dtype) { return std::isnan(real_at(value, dtype)); }

bool is_infinite(const std::byte* value, DType dtype) { return std::isinf(real_at(value, dtype)); }

std::string sample_text(const Dataset::Field& field, std::span<const std::byte> sample, std::size_t max_width) {
  const auto bytes = size_of(field.dtype);
  std::string text;
  if (field.varies && field.dtype == DType::u8) {
    const std::string_view all(reinterpret_cast<const char*>(sample.data()), sample.size());
    text = "\"" + plain_text(all.substr(0, 4 * max_width)) + "\"";
  } else if (!field.varies && field.sample_shape.empty()) {
    append_number(text, sample.data(), field.dtype);
  } else {
    text = "[";
    for (std::size_t at = 0; at < sample.size() && text.size() <= max_width; at += bytes) {
      if (at > 0) text += ", ";
      append_number(text, sample.data() + at, field.dtype);
    }
    text += "]";
  }
  return display_width(text) <= max_width ? text : cut_to_width(text, max_width - 3) + "...";
}

}  // namespace trainrt::cli::datasets
