#include "data/transform/normalizer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "data/images/image_axes.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

float finite_number(const std::string& word) {
  const auto number = parse_real(word);
  if (!number || !std::isfinite(*number)) throw UsageError(fmt::format("'{}' is no number", word));
  return static_cast<float>(*number);
}

std::size_t channels_of_image(const Dataset::Field& field) {
  const auto axes = image_axes(field);
  return std::max(axes.planes, axes.channels_of(field.dtype));
}

}  // namespace

Normalizer::Normalizer(const Dataset::Field& from, std::span<const std::string> arguments)
    : from_(from.dtype), field_(from) {
  const auto count = arguments.size() / 2;
  if (count == 0 || arguments.size() % 2 != 0)
    throw UsageError(fmt::format("{} needs two numbers, MEAN DEVIATION, or those of each channel", from.name));
  if (!is_plain_number(from.dtype)) throw UsageError(fmt::format("{} is {}", from.name, name_of(from.dtype)));
  if (count > 1 && channels_of_image(from) != count)
    throw UsageError(fmt::format("{} has {} channels, and {} means are given", from.name, channels_of_image(from), count));
  for (std::size_t i = 0; i < count; ++i) {
    Channel channel{finite_number(arguments[i]), finite_number(arguments[count + i]), {}};
    if (channel.deviation <= 0)
      throw UsageError(fmt::format("the deviation of {} is {}; it must be more than 0", from.name, arguments[count + i]));
    for (int value = 0; value < 256; ++value)
      channel.of_byte.push_back((static_cast<float>(value) / 255.0F - channel.mean) / channel.deviation);
    channels_.push_back(std::move(channel));
  }
  field_.dtype = DType::f32;
  if (count == 1) return;
  const auto axes = image_axes(from);
  are_side_by_side_ = axes.channels_of(from.dtype) > 1;
  plane_ = axes.height * axes.width;
}

/// `count` values of a channel, each `step` behind the one before it.
void Normalizer::apply_run(const Channel& channel, std::span<const std::byte> from, std::size_t first, std::size_t count,
                           std::size_t step, float* out) const {
  const auto end = first + count * step;
  if (from_ == DType::u8)
    for (auto i = first; i < end; i += step) out[i] = channel.of_byte[static_cast<std::size_t>(from[i])];
  else
    for (auto i = first; i < end; i += step)
      out[i] = (static_cast<float>(number_at(from, from_, i)) - channel.mean) / channel.deviation;
}

void Normalizer::apply(std::span<const std::byte> from, std::span<std::byte> to) const {
  auto* const out = reinterpret_cast<float*>(to.data());
  const auto count = from.size() / size_of(from_), channels = channels_.size();
  if (channels == 1) return apply_run(channels_.front(), from, 0, count, 1, out);
  if (are_side_by_side_) {
    for (std::size_t i = 0; i < channels; ++i) apply_run(channels_[i], from, i, count / channels, channels, out);
    return;
  }
  for (std::size_t plane = 0; plane * plane_ < count; ++plane)
    apply_run(channels_[plane % channels], from, plane * plane_, plane_, 1, out);
}

}  // namespace trainrt::data
