#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

/// Converts `value` to T and stores it at `to`. If T is an integer type, the fraction is cut off. Throws UsageError, which
/// names the field, if T cannot represent the value: a number beyond the range of T, or infinity or NaN as an integer.
template <class T>
void store(double value, const std::string& field, std::byte* to) {
  constexpr auto max = static_cast<double>(std::numeric_limits<T>::max());
  const bool fits = std::is_floating_point_v<T> ? !std::isfinite(value) || std::isfinite(static_cast<T>(value))
                                                : value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                                                      (value < max || (sizeof(T) < 8 && value == max));
  if (!fits)
    throw UsageError(
        fmt::format("field {} contains {}, which {} cannot represent", field, value, name_of(dtype_of<T>::value)));
  const auto stored = static_cast<T>(value);
  std::memcpy(to, &stored, sizeof(T));
}

FieldMap make_cast(const Dataset::Field& field, std::span<const std::string> arguments) {
  constexpr std::string_view valid[] = {"f64", "f32", "i64", "i32", "i16", "i8", "u8"};
  if (arguments.size() != 1 || std::ranges::find(valid, arguments[0]) == std::end(valid))
    throw UsageError(fmt::format("{} cannot be cast to '{}'; valid types are {}", field.name, join(arguments, " "),
                                 fmt::join(valid, ", ")));
  if (!is_plain_number(field.dtype))
    throw UsageError(fmt::format("{} has type {}; only fields of {} and bool can be cast", field.name, name_of(field.dtype),
                                 fmt::join(valid, ", ")));
  auto changed = field;
  changed.dtype = dtype_from(arguments[0]);
  const auto from_type = field.dtype;
  if (from_type == changed.dtype)
    return {changed, [](std::span<const std::byte> from, std::span<std::byte> to, Random&) {
              std::copy(from.begin(), from.end(), to.begin());
            }};
  return call_with_type(changed.dtype, [&](auto target) -> FieldMap {
    return {changed, [from_type, name = field.name](std::span<const std::byte> from, std::span<std::byte> to, Random&) {
              for (std::size_t i = 0; i < to.size() / sizeof target; ++i)
                store<decltype(target)>(number_at(from, from_type, i), name, to.data() + i * sizeof target);
            }};
  });
}

}  // namespace

extern const Transform cast{.name = "cast",
                            .help = "converts a field to another type; a value that the type cannot represent is an error",
                            .arguments = "TYPE",
                            .make = make_cast};

}  // namespace trainrt::data::plugins
