#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

void copy_reversed(const std::byte* row, std::size_t pixels, std::size_t bytes, std::byte* to) {
  for (std::size_t x = 0; x < pixels; ++x) std::memcpy(to + (pixels - 1 - x) * bytes, row + x * bytes, bytes);
}

FieldMap make_random_flip(const Dataset::Field& field, std::span<const std::string> arguments) {
  if (arguments.size() != 1 || (arguments[0] != "horizontal" && arguments[0] != "vertical"))
    throw UsageError(
        fmt::format("{}: '{}' is invalid; valid are horizontal and vertical", field.name, join(arguments, " ")));
  const bool is_vertical = arguments[0] == "vertical";
  return {field, [axes = image_axes(field), is_vertical](std::span<const std::byte> from, std::span<std::byte> to,
                                                         Random& random) {
            if (random.below(2) == 0) return static_cast<void>(std::memcpy(to.data(), from.data(), from.size()));
            const auto row_bytes = axes.width * axes.pixel_bytes();
            for (std::size_t row = 0; row < axes.planes * axes.height; ++row) {
              const auto y = row % axes.height;
              const auto* const source = from.data() + row * row_bytes;
              if (is_vertical)
                std::memcpy(to.data() + (row - y + axes.height - 1 - y) * row_bytes, source, row_bytes);
              else
                copy_reversed(source, axes.width, axes.pixel_bytes(), to.data() + row * row_bytes);
            }
          }};
}

}  // namespace

extern const Transform random_flip{.name = "random_flip",
                                   .help =
                                       "mirrors half of the images, chosen at random in each epoch: "
                                       "horizontal swaps left and right, vertical swaps top and bottom",
                                   .arguments = "horizontal | vertical",
                                   .make = make_random_flip};

}  // namespace trainrt::data::plugins
