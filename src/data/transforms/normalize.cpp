#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform.hpp"

namespace trainrt::data {

namespace {

double number_of(const std::string& word) {
  const auto number = parse_real(word);
  if (!number || !std::isfinite(*number)) throw UsageError(fmt::format("'{}' is no number", word));
  return *number;
}

/// (x - mean) / deviation as f32, of x itself or, of u8 and as torchvision's ToTensor does, of x / 255.
class Normalized final : public FieldMap {
 public:
  Normalized(const Dataset::Field& from, double mean, double deviation)
      : from_(from.dtype), field_(from), mean_(static_cast<float>(mean)), deviation_(static_cast<float>(deviation)) {
    field_.dtype = DType::f32;
    for (std::size_t value = 0; value < std::size(of_byte_); ++value)
      of_byte_[value] = (static_cast<float>(value) / 255.0F - mean_) / deviation_;
  }

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to) const override {
    auto* out = reinterpret_cast<float*>(to.data());
    if (from_ == DType::u8) {
      for (const auto byte : from) *out++ = of_byte_[static_cast<std::size_t>(byte)];
      return;
    }
    const auto count = from.size() / size_of(from_);
    for (std::size_t i = 0; i < count; ++i) *out++ = (static_cast<float>(number_at(from, from_, i)) - mean_) / deviation_;
  }

 private:
  DType from_;
  Dataset::Field field_;
  float mean_, deviation_;
  float of_byte_[256];
};

std::unique_ptr<FieldMap> make_normalized(const Dataset::Field& field, std::span<const std::string> arguments) {
  if (arguments.size() != 2) throw UsageError(fmt::format("{} needs two numbers, MEAN DEVIATION", field.name));
  if (!is_plain_number(field.dtype)) throw UsageError(fmt::format("{} is {}", field.name, name_of(field.dtype)));
  const auto deviation = number_of(arguments[1]);
  if (deviation <= 0)
    throw UsageError(fmt::format("the deviation of {} is {}; it must be more than 0", field.name, arguments[1]));
  return std::make_unique<Normalized>(field, number_of(arguments[0]), deviation);
}

}  // namespace

namespace plugins {

extern const Transform normalize{
    .name = "normalize",
    .help =
        "makes a field f32 with mean 0 and deviation 1: less MEAN, divided by DEVIATION; bytes are divided by 255 first",
    .arguments = "MEAN DEVIATION",
    .make = make_normalized};

}  // namespace plugins

}  // namespace trainrt::data
