#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

void erase_box(const ImageAxes& axes, std::size_t top, std::size_t left, ImageSize size, std::byte* image) {
  for (std::size_t plane = 0; plane < axes.planes; ++plane)
    for (std::size_t y = top; y < top + size.height; ++y)
      std::memset(image + ((plane * axes.height + y) * axes.width + left) * axes.pixel_bytes(), 0,
                  size.width * axes.pixel_bytes());
}

/// Sets a random rectangle of the image to zero, drawn like by torchvision's RandomErasing (Zhong et al., "Random Erasing
/// Data Augmentation", AAAI 2020). Changes nothing if ten rectangles in succession do not fit into the image.
void erase_at_random(const ImageAxes& axes, const AreaRange& range, std::byte* image, Random& random) {
  constexpr double max_ratio = 10.0 / 3;
  const auto image_area = static_cast<double>(axes.height) * static_cast<double>(axes.width);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto area = image_area * (range.min + (range.max - range.min) * random.uniform());
    const auto ratio = std::exp(std::log(max_ratio) * (2 * random.uniform() - 1));
    const auto height = static_cast<std::size_t>(std::lround(std::sqrt(area * ratio)));
    const auto width = static_cast<std::size_t>(std::lround(std::sqrt(area / ratio)));
    if (height == 0 || width == 0 || height >= axes.height || width >= axes.width) continue;
    const auto top = random.below(axes.height - height + 1), left = random.below(axes.width - width + 1);
    return erase_box(axes, top, left, {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width)}, image);
  }
}

FieldMap make_random_erasing(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto probability = arguments.empty() ? std::nullopt : parse_real(arguments[0]);
  const auto range = arguments.empty() ? std::nullopt : parse_area_range(arguments.subspan(1), {0.02, 0.33});
  if (!probability || !(*probability > 0 && *probability <= 1) || !range)
    throw UsageError(
        fmt::format("{}: '{}' is invalid. Valid is a probability from 0 (exclusive) to 1. "
                    "The minimum and the maximum share of the area may follow, such as 0.5 0.02 0.33",
                    field.name, join(arguments, " ")));
  return {field, [axes = image_axes(field), probability = *probability, range = *range](
                     std::span<const std::byte> from, std::span<std::byte> to, Random& random) {
            std::memcpy(to.data(), from.data(), from.size());
            if (random.uniform() < probability) erase_at_random(axes, range, to.data(), random);
          }};
}

}  // namespace

extern const Transform random_erasing{
    .name = "random_erasing",
    .help =
        "sets a rectangle of an image to zero, with the given probability. "
        "The rectangle has MIN to MAX (0.02 to 0.33) of the image's area, and an aspect ratio from 3:10 to 10:3. "
        "Applied after all other random changes",
    .arguments = "PROBABILITY [MIN MAX]",
    .make = make_random_erasing,
    .order = 2};

}  // namespace trainrt::data::plugins
