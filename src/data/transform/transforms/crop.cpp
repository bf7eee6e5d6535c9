#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

/// Returns half of `margin`. If `margin` is odd, rounds the half to the nearest even number, like torchvision's CenterCrop.
std::size_t half_of(std::size_t margin) { return margin / 2 + (margin % 4 == 3 ? 1 : 0); }

FieldMap make_center_crop(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto axes = image_axes(field);
  const auto size = arguments.size() == 1 ? parse_size(arguments[0]) : std::nullopt;
  if (!size || size->height > axes.height || size->width > axes.width)
    throw UsageError(
        fmt::format("{0}: '{3}' is invalid; the size must be HEIGHTxWIDTH, at most the size of the images, {1}x{2}",
                    field.name, axes.height, axes.width, join(arguments, " ")));
  return image_map(
      field, *size,
      [axes, size = *size, top = half_of(axes.height - size->height), left = half_of(axes.width - size->width)](
          std::span<const std::byte> image, std::byte* to) { crop_image(axes, image, top, left, size, to); });
}

}  // namespace

extern const Transform crop{.name = "crop",
                            .help = "cuts the center out of images; applied after resize and before all other transforms",
                            .arguments = "HEIGHTxWIDTH",
                            .make = make_center_crop,
                            .order = -1};

}  // namespace trainrt::data::plugins
