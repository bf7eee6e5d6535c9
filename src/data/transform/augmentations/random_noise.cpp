#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/augmentation.hpp"

namespace trainrt::data {

namespace {

template <class T>
class Noisy final : public SampleMap {
 public:
  Noisy(const Dataset::Field& field, double deviation) : field_(field), deviation_(deviation) {}

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const override {
    const auto* const values = reinterpret_cast<const T*>(from.data());
    auto* const made = reinterpret_cast<T*>(to.data());
    for (std::size_t i = 0; i < from.size() / sizeof(T); ++i)
      made[i] = static_cast<T>(static_cast<double>(values[i]) + deviation_ * random.normal());
  }

 private:
  Dataset::Field field_;
  double deviation_;
};

std::unique_ptr<SampleMap> make_noisy(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto deviation = arguments.size() == 1 ? parse_real(arguments[0]) : std::nullopt;
  if (!deviation || !std::isfinite(*deviation) || *deviation <= 0)
    throw UsageError(fmt::format("{} needs a deviation above 0", field.name));
  if (field.dtype == DType::f32) return std::make_unique<Noisy<float>>(field, *deviation);
  if (field.dtype == DType::f64) return std::make_unique<Noisy<double>>(field, *deviation);
  throw UsageError(
      fmt::format("{} is {}; noise is for f32 and f64 (the key cast makes them)", field.name, name_of(field.dtype)));
}

}  // namespace

namespace plugins {

extern const Augmentation random_noise{
    .name = "random_noise",
    .help =
        "adds normal noise with mean 0 and that deviation to each value of a field of f32 or f64, other noise in each "
        "epoch",
    .arguments = "DEVIATION",
    .make = make_noisy};

}  // namespace plugins

}  // namespace trainrt::data
