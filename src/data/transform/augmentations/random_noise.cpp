#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

template <class T>
FieldMap noise_map(const Dataset::Field& field, double deviation) {
  return {field, [deviation](std::span<const std::byte> from, std::span<std::byte> to, Random& random) {
            const auto* const values = reinterpret_cast<const T*>(from.data());
            auto* const noisy = reinterpret_cast<T*>(to.data());
            for (std::size_t i = 0; i < from.size() / sizeof(T); ++i)
              noisy[i] = static_cast<T>(static_cast<double>(values[i]) + deviation * random.normal());
          }};
}

FieldMap make_random_noise(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto deviation = arguments.size() == 1 ? parse_real(arguments[0]) : std::nullopt;
  if (!deviation || !std::isfinite(*deviation) || *deviation <= 0)
    throw UsageError(fmt::format("{}: '{}' is invalid; the standard deviation of the noise must be more than 0", field.name,
                                 join(arguments, " ")));
  if (field.dtype == DType::f32) return noise_map<float>(field, *deviation);
  if (field.dtype == DType::f64) return noise_map<double>(field, *deviation);
  throw UsageError(fmt::format("{} has type {}; noise can be added to f32 and f64. Convert the field with cast = {}: f32",
                               field.name, name_of(field.dtype), field.name));
}

}  // namespace

extern const Transform random_noise{
    .name = "random_noise",
    .help =
        "adds normally distributed noise with mean 0 and this standard deviation to each value of a field of f32 or f64; "
        "the noise differs in each epoch",
    .arguments = "DEVIATION",
    .make = make_random_noise};

}  // namespace trainrt::data::plugins
