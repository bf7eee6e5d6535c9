#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <arrow/util/bit_util.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/tensor.hpp>

// Numbers of an array of Arrow's, as those of another type at their places. A value that the type does not hold, and one
// that is missing among whole numbers, is an Error that names its row.
namespace trainrt::data::arrow_module {

using Half = arrow::util::Float16;

/// A value of a boolean: 0 or 1.
struct Flag {
  std::uint8_t value = 0;
};

/// Which samples of a run have no value.
struct Validity {
  const std::uint8_t* bits = nullptr;  ///< nullptr: all have one
  std::int64_t offset = 0;
  bool at(std::int64_t i) const { return bits == nullptr || arrow::bit_util::GetBit(bits, offset + i); }
};

[[noreturn]] inline void refuse_missing(std::uint64_t row) {
  throw UsageError(fmt::format(
      "row {} has no value, which whole numbers cannot express: types gives a column of single numbers f64, with "
      "NaN; the values of a list or vector must be written as float64; columns leaves a column out",
      row));
}

template <class Value>
[[noreturn]] void refuse_value(Value value, std::uint64_t row) {
  throw UsageError(
      fmt::format("row {}: the value {} does not fit into the column's type; types gives it another one", row, value));
}

/// Whether a double holds the whole number exactly.
template <class Whole>
bool is_exact(Whole value) {
  const auto rounded = static_cast<double>(value);
  return rounded < std::ldexp(1.0, std::numeric_limits<Whole>::digits) && static_cast<Whole>(rounded) == value;
}

/// UsageError if a double, as which the column is read because values are missing, would round the whole number.
template <class From>
void require_exact(From value, std::uint64_t row) {
  if constexpr (std::is_integral_v<From> && sizeof(From) == sizeof(double))
    if (!is_exact(value))
      throw UsageError(fmt::format(
          "row {}: the whole number {} has no exact f64, and the column is f64 because values are missing; types "
          "gives the column f64 to round it, columns leaves it out, or write it as a text",
          row, value));
}

/// False if the type does not hold the value.
template <class From, class To>
bool fit(From value, To& to) {
  if constexpr (std::is_same_v<From, Half>) {
    if constexpr (std::is_same_v<To, Half>) return to = value, true;
    if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>)
      return to = static_cast<To>(value.ToFloat()), true;
    return false;
  } else if constexpr (std::is_same_v<To, Half>) {
    return false;
  } else if constexpr (std::is_same_v<To, Flag>) {
    to.value = value != From{} ? 1 : 0;
    return value == From{0} || value == From{1};
  } else if constexpr (std::is_floating_point_v<To>) {
    to = static_cast<To>(value);
    if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) return !std::isinf(to) || std::isinf(value);
    return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    const double beyond = std::ldexp(1.0, std::numeric_limits<To>::digits);
    if (!(value >= static_cast<double>(std::numeric_limits<To>::min()) && value < beyond) || std::trunc(value) != value)
      return false;
    to = static_cast<To>(value);
    return true;
  } else {
    to = static_cast<To>(value);
    return std::in_range<To>(value);
  }
}

template <class To>
void put_missing(std::byte* out, std::uint64_t row) {
  if constexpr (std::is_floating_point_v<To>) {
    const auto none = std::numeric_limits<To>::quiet_NaN();
    std::memcpy(out, &none, sizeof none);
  } else if constexpr (std::is_same_v<To, Half>) {
    const auto none = std::numeric_limits<Half>::quiet_NaN().bits();
    std::memcpy(out, &none, sizeof none);
  } else {
    refuse_missing(row);
  }
}

/// Numbers that stand one after another, and where they go.
struct Run {
  std::int64_t count = 0;
  Validity validity;
  std::byte* out = nullptr;
  std::size_t stride = 0;
  std::uint64_t first_row = 0;
  std::uint64_t per_row = 1;  ///< numbers of a sample, for messages
  bool must_fit = false;      ///< as TableTarget::must_fit
};

template <class From, class To>
void put_run(const From* from, const Run& run) {
  if constexpr (std::is_same_v<From, To>)
    if (run.validity.bits == nullptr && run.stride == sizeof(To)) {
      if (run.count > 0) std::memcpy(run.out, from, static_cast<std::size_t>(run.count) * sizeof(To));
      return;
    }
  auto* out = run.out;
  for (std::int64_t i = 0; i < run.count; ++i, out += run.stride) {
    const auto row = run.first_row + static_cast<std::uint64_t>(i) / run.per_row;
    if (run.validity.bits != nullptr && !run.validity.at(i)) {
      put_missing<To>(out, row);
      continue;
    }
    if (run.must_fit && std::is_same_v<To, double>) require_exact(from[i], row);
    To value;
    if (!fit(from[i], value)) {
      if constexpr (std::is_same_v<From, Half>)
        refuse_value(from[i].ToFloat(), row);
      else
        refuse_value(+from[i], row);
    }
    std::memcpy(out, &value, sizeof value);
  }
}

template <class From>
void put_as(const From* from, DType dtype, const Run& run) {
  switch (dtype) {
    case DType::f64:
      return put_run<From, double>(from, run);
    case DType::f32:
      return put_run<From, float>(from, run);
    case DType::f16:
      return put_run<From, Half>(from, run);
    case DType::i64:
      return put_run<From, std::int64_t>(from, run);
    case DType::i32:
      return put_run<From, std::int32_t>(from, run);
    case DType::i16:
      return put_run<From, std::int16_t>(from, run);
    case DType::i8:
      return put_run<From, std::int8_t>(from, run);
    case DType::u8:
      return put_run<From, std::uint8_t>(from, run);
    case DType::boolean:
      return put_run<From, Flag>(from, run);
    default:
      throw Error("a column cannot become that type");
  }
}

}  // namespace trainrt::data::arrow_module
