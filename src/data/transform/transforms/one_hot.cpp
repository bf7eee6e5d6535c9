#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

FieldMap make_one_hot(const Dataset::Field& field, std::span<const std::string> arguments) {
  constexpr std::int64_t max_classes = 1 << 20;
  const auto number = arguments.size() == 1 ? parse_integer(arguments[0]) : std::nullopt;
  if (!number || *number < 1 || *number > max_classes)
    throw UsageError(fmt::format("{0}: '{2}' is invalid; the number of classes must be an integer from 1 to {1}",
                                 field.name, max_classes, join(arguments, " ")));
  if (!is_plain_number(field.dtype) || field.dtype == DType::f64 || field.dtype == DType::f32)
    throw UsageError(fmt::format("{} has type {}; it must contain integers", field.name, name_of(field.dtype)));
  auto changed = field;
  changed.dtype = DType::f32;
  changed.sample_shape.push_back(*number);
  const auto apply = [field, classes = static_cast<std::size_t>(*number)](std::span<const std::byte> from,
                                                                          std::span<std::byte> to, Random&) {
    auto* const out = reinterpret_cast<float*>(to.data());
    const auto count = from.size() / size_of(field.dtype);
    std::fill_n(out, count * classes, 0.0F);
    for (std::size_t i = 0; i < count; ++i) {
      const auto label = number_at(from, field.dtype, i);
      if (label < 0 || label >= static_cast<double>(classes))
        throw UsageError(fmt::format("field {} contains {}, but one_hot has {} classes; valid are 0 to {}", field.name,
                                     label, classes, classes - 1));
      out[i * classes + static_cast<std::size_t>(label)] = 1;
    }
  };
  return {changed, apply};
}

}  // namespace

extern const Transform one_hot{.name = "one_hot",
                               .help = "turns an integer into CLASSES f32 values: 1 at its index, 0 elsewhere",
                               .arguments = "CLASSES",
                               .make = make_one_hot};

}  // namespace trainrt::data::plugins
