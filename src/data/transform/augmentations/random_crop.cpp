#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

/// Copies the image `from` to `to`, shifted: the first pixel of `to` is the pixel at row `down` and column `right` of
/// `from`; both may be negative. Pixels outside of `from` become 0.
void shift_image(const ImageAxes& axes, std::span<const std::byte> from, std::int64_t down, std::int64_t right,
                 std::span<std::byte> to) {
  const auto width = static_cast<std::int64_t>(axes.width), height = static_cast<std::int64_t>(axes.height);
  const auto bytes = static_cast<std::int64_t>(axes.pixel_bytes());
  const auto first = std::max<std::int64_t>(0, -right), end = std::min(width, width - right);
  std::memset(to.data(), 0, to.size());
  for (std::int64_t row = 0; first < end && row < static_cast<std::int64_t>(axes.planes) * height; ++row) {
    const auto source_row = row % height + down;  // row of `from`, within the plane
    if (source_row < 0 || source_row >= height) continue;
    std::memcpy(to.data() + (row * width + first) * bytes, from.data() + ((row + down) * width + first + right) * bytes,
                static_cast<std::size_t>((end - first) * bytes));
  }
}

/// Returns the change that pads each image with zeros and cuts out a part of the original size at a random position.
/// torchvision's RandomCrop(size, padding) does the same if `size` is the size of the images.
FieldMap make_random_crop(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto axes = image_axes(field);
  const auto max = static_cast<double>(std::min(axes.width, axes.height));
  const auto number = arguments.size() == 1 ? parse_real(arguments[0]) : std::nullopt;
  if (!number || !(*number >= 1 && *number <= max) || *number != static_cast<double>(static_cast<std::int64_t>(*number)))
    throw UsageError(fmt::format("{0}: '{2}' is invalid; the padding must be an integer number of pixels, from 1 to {1}",
                                 field.name, max, join(arguments, " ")));
  return {field, [axes, padding = static_cast<std::int64_t>(*number)](std::span<const std::byte> from,
                                                                      std::span<std::byte> to, Random& random) {
            const auto draw = [&] {
              return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * padding + 1))) - padding;
            };
            const auto down = draw(), right = draw();
            shift_image(axes, from, down, right, to);
          }};
}

}  // namespace

extern const Transform random_crop{.name = "random_crop",
                                   .help =
                                       "pads each image with PADDING rows and columns of zeros on each side, "
                                       "and cuts out a part of the original size at a random position, "
                                       "which differs in each epoch",
                                   .arguments = "PADDING",
                                   .make = make_random_crop};

}  // namespace trainrt::data::plugins
