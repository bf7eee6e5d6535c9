#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

constexpr double min_ratio = 3.0 / 4, max_ratio = 4.0 / 3;  // valid ratios of width to height

Box box_at(std::size_t top, std::size_t left, std::size_t height, std::size_t width) {
  return {static_cast<float>(top), static_cast<float>(left), static_cast<float>(top + height),
          static_cast<float>(left + width)};
}

/// Returns the largest part in the center of an image whose ratio of width to height is from min_ratio to max_ratio.
Box center_box(const ImageAxes& axes) {
  auto height = axes.height, width = axes.width;
  const auto ratio = static_cast<double>(width) / static_cast<double>(height);
  if (ratio < min_ratio) height = static_cast<std::size_t>(std::lround(static_cast<double>(width) / min_ratio));
  if (ratio > max_ratio) width = static_cast<std::size_t>(std::lround(static_cast<double>(height) * max_ratio));
  return box_at((axes.height - height) / 2, (axes.width - width) / 2, height, width);
}

/// Draws a random part of an image like torchvision's RandomResizedCrop: its area, and the logarithm of its ratio of width
/// to height, are distributed uniformly. Returns center_box() if ten parts in succession do not fit into the image.
Box draw_box(const ImageAxes& axes, const AreaRange& range, Random& random) {
  const auto image_area = static_cast<double>(axes.height) * static_cast<double>(axes.width);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto area = image_area * (range.min + (range.max - range.min) * random.uniform());
    const auto ratio = std::exp(std::log(min_ratio) + (std::log(max_ratio) - std::log(min_ratio)) * random.uniform());
    const auto width = static_cast<std::size_t>(std::lround(std::sqrt(area * ratio)));
    const auto height = static_cast<std::size_t>(std::lround(std::sqrt(area / ratio)));
    if (width == 0 || height == 0 || width > axes.width || height > axes.height) continue;
    const auto top = random.below(axes.height - height + 1), left = random.below(axes.width - width + 1);
    return box_at(top, left, height, width);
  }
  return center_box(axes);
}

FieldMap make_random_resized_crop(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto size = arguments.empty() ? std::nullopt : parse_size(arguments[0]);
  const auto range = arguments.empty() ? std::nullopt : parse_area_range(arguments.subspan(1), {0.08, 1});
  if (!size || !range)
    throw UsageError(fmt::format(
        "{}: '{}' is invalid. "
        "Valid is HEIGHTxWIDTH. The minimum and the maximum share of the area may follow, such as 224x224 0.08 1",
        field.name, join(arguments, " ")));
  const auto axes = image_axes(field);
  require_u8_or_f32(field);
  return {with_size(field, *size),
          [axes, size = *size, range = *range](std::span<const std::byte> from, std::span<std::byte> to, Random& random) {
            resample_image(axes, from, draw_box(axes, range, random), size, to.data());
          }};
}

}  // namespace

extern const Transform random_resized_crop{
    .name = "random_resized_crop",
    .help =
        "cuts a random part out of each image, and resizes it by bilinear interpolation with antialiasing. "
        "The part has MIN to MAX (0.08 to 1) of the image's area and an aspect ratio from 3:4 to 4:3; "
        "it differs in each epoch. Applied before all other random changes",
    .arguments = "HEIGHTxWIDTH [MIN MAX]",
    .make = make_random_resized_crop,
    .order = -1};

}  // namespace trainrt::data::plugins
