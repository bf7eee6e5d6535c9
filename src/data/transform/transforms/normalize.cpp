#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// The mean and the standard deviation of one channel.
struct Channel {
  float mean, deviation;
  std::vector<float> of_byte;  ///< for a field of u8: the result for each possible value

  Channel(float channel_mean, float channel_deviation) : mean(channel_mean), deviation(channel_deviation) {
    for (int value = 0; value < 256; ++value) of_byte.push_back((static_cast<float>(value) / 255.0F - mean) / deviation);
  }

  /// Standardizes `count` values of type `dtype`: those with the indices `first`, `first` + `step`, `first` + 2 * `step`
  /// and so on.
  void apply(DType dtype, std::span<const std::byte> from, std::size_t first, std::size_t count, std::size_t step,
             float* out) const {
    const auto end = first + count * step;
    if (dtype == DType::u8)
      for (auto i = first; i < end; i += step) out[i] = of_byte[static_cast<std::size_t>(from[i])];
    else
      for (auto i = first; i < end; i += step) out[i] = (static_cast<float>(number_at(from, dtype, i)) - mean) / deviation;
  }
};

float finite_number(const Dataset::Field& field, const std::string& word) {
  const auto number = parse_real(word);
  if (!number || !std::isfinite(*number)) throw UsageError(fmt::format("{}: '{}' is not a number", field.name, word));
  return static_cast<float>(*number);
}

std::vector<Channel> parse_channels(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto count = arguments.size() / 2;
  if (count == 0 || arguments.size() % 2 != 0)
    throw UsageError(
        fmt::format("{} has invalid arguments. Valid are two numbers, MEAN DEVIATION. "
                    "For an image, the mean of each channel and then the deviation of each channel are valid, too",
                    field.name));
  if (count > 1)
    if (const auto axes = image_axes(field); axes.all_channels() != count)
      throw UsageError(fmt::format("{} has {} channels, but {} means and {} deviations were set", field.name,
                                   axes.all_channels(), count, count));
  std::vector<Channel> channels;
  for (std::size_t i = 0; i < count; ++i) {
    channels.emplace_back(finite_number(field, arguments[i]), finite_number(field, arguments[count + i]));
    if (!(channels.back().deviation > 0))
      throw UsageError(fmt::format("the deviation of {} is {}; it must be more than 0", field.name, arguments[count + i]));
  }
  return channels;
}

}  // namespace

FieldMap standardized(const Dataset::Field& field, std::span<const std::string> arguments) {
  auto channels = parse_channels(field, arguments);
  if (!is_plain_number(field.dtype))
    throw UsageError(fmt::format("{} has type {}, which cannot be standardized; valid are f64, f32, integers and bool",
                                 field.name, name_of(field.dtype)));
  auto changed = field;
  changed.dtype = DType::f32;
  const auto axes = channels.size() > 1 ? image_axes(field) : ImageAxes{};
  return {changed, [channels = std::move(channels), axes, dtype = field.dtype](std::span<const std::byte> from,
                                                                               std::span<std::byte> to, Random&) {
            auto* const out = reinterpret_cast<float*>(to.data());
            const auto count = from.size() / size_of(dtype);
            if (channels.size() == 1) return channels.front().apply(dtype, from, 0, count, 1, out);
            if (axes.channels > 1) {
              for (std::size_t i = 0; i < channels.size(); ++i)
                channels[i].apply(dtype, from, i, count / channels.size(), channels.size(), out);
              return;
            }
            const auto plane = axes.height * axes.width;
            for (std::size_t i = 0; i * plane < count; ++i)
              channels[i % channels.size()].apply(dtype, from, i * plane, plane, 1, out);
          }};
}

namespace plugins {

extern const Transform normalize{
    .name = "normalize",
    .help =
        "subtracts MEAN and divides by DEVIATION, the standard deviation; the result is f32. "
        "u8 values are divided by 255 first. "
        "For images, the mean of each channel and then the deviation of each channel may be given",
    .arguments = "MEAN DEVIATION",
    .make = standardized};

}  // namespace plugins

}  // namespace trainrt::data
