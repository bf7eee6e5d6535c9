#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

FieldMap make_resized(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto size = arguments.size() == 1 ? parse_size(arguments[0]) : std::nullopt;
  if (!size)
    throw UsageError(fmt::format("{0}: '{2}' is invalid; the size must be HEIGHTxWIDTH, each from 1 to {1}", field.name,
                                 max_image_extent, join(arguments, " ")));
  const auto axes = image_axes(field);
  require_u8_or_f32(field);
  return image_map(field, *size, [axes, size = *size](std::span<const std::byte> image, std::byte* to) {
    resample_image(axes, image, full_box({axes.height, axes.width}), size, to);
  });
}

}  // namespace

extern const Transform resize{
    .name = "resize",
    .help = "resizes images of u8 or f32 by bilinear interpolation with antialiasing; applied before all other transforms",
    .arguments = "HEIGHTxWIDTH",
    .make = make_resized,
    .order = -2};

}  // namespace trainrt::data::plugins
