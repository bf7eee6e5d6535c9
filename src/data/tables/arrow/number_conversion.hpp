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

// Functions that convert the numbers of an Arrow array to another type. They throw UsageError, which names the row, for a
// value that does not fit the type, and for a missing value if the type has no NaN.
namespace trainrt::data::arrow_module {

using Half = arrow::util::Float16;

/// A boolean value, 0 or 1.
struct Flag {
  std::uint8_t value = 0;
};

/// The validity bitmap of an array: one bit per value, which is 0 if the value is missing.
struct Validity {
  const std::uint8_t* bits = nullptr;  ///< nullptr: no value is missing
  std::int64_t offset = 0;
  bool at(std::int64_t i) const { return bits == nullptr || arrow::bit_util::GetBit(bits, offset + i); }
};

[[noreturn]] inline void throw_missing(std::uint64_t row) {
  throw UsageError(
      fmt::format("row {} has no value, which integers cannot represent: "
                  "set the key 'types' to f64 for a column of single numbers (the value becomes NaN), "
                  "write lists and vectors as float64, or leave the column out with the key 'columns'",
                  row));
}

/// Throws UsageError if f64 cannot represent the integer exactly. Called for columns of integers that became f64 because
/// some values are missing.
template <class From>
void require_exact(From value, std::uint64_t row) {
  if constexpr (std::is_integral_v<From> && sizeof(From) == sizeof(double)) {
    const auto rounded = static_cast<double>(value);
    if (rounded >= std::ldexp(1.0, std::numeric_limits<From>::digits) || static_cast<From>(rounded) != value)
      throw UsageError(fmt::format(
          "row {}: f64 cannot represent the integer {} exactly, and the column is f64 because values are missing; "
          "set the key 'types' to f64 to round it, leave the column out with the key 'columns', or write it as text",
          row, value));
  }
}

/// Converts `value` to type To and stores it in `to`. Returns false if To cannot represent the value.
template <class From, class To>
bool convert(From value, To& to) {
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
  if constexpr (std::is_floating_point_v<To> || std::is_same_v<To, Half>) {
    const auto nan = std::numeric_limits<To>::quiet_NaN();
    std::memcpy(out, &nan, sizeof nan);
  } else {
    throw_missing(row);
  }
}

/// The elements `begin` to `begin + count` - 1 of an array, and the memory to which they are written.
struct Run {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::byte* out = nullptr;
  std::size_t stride = 0;       ///< distance in bytes from one element to the next in `out`
  std::uint64_t first_row = 0;  ///< number of the row of the first element, for messages
  std::uint64_t per_row = 1;    ///< number of elements of a row, for messages
  bool must_be_exact = false;   ///< as TableTarget::must_be_exact
  Validity validity = {};
};

/// Converts the numbers at `from` to type To, and stores them as `run` describes.
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
    if (run.must_be_exact && std::is_same_v<To, double>) require_exact(from[i], row);
    To value;
    if (!convert(from[i], value)) {
      constexpr const char* message =
          "row {}: the value {} does not fit the column's type; set another type with the key 'types'";
      if constexpr (std::is_same_v<From, Half>)
        throw UsageError(fmt::format(message, row, from[i].ToFloat()));
      else
        throw UsageError(fmt::format(message, row, +from[i]));
    }
    std::memcpy(out, &value, sizeof value);
  }
}

/// Returns the size in bytes of a value of type `dtype`. Replaces size_of(), which the module cannot call because it does
/// not link to the program.
inline std::size_t value_bytes(DType dtype) {
  if (dtype == DType::f64 || dtype == DType::i64) return 8;
  if (dtype == DType::f32 || dtype == DType::i32) return 4;
  return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::i16 ? 2 : 1;
}

/// Converts the numbers at `from` to type `dtype`, and stores them as `run` describes.
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
      throw Error("values of this column cannot be converted to the requested type");
  }
}

}  // namespace trainrt::data::arrow_module
