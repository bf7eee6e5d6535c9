#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "data/images/image_codec.hpp"
#include "data/images/resample.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Where the rows and the columns of an image's sample are: shape [height, width], [channels, height, width], or, if the
/// last axis has at most 4 and the first more, [height, width, channels].
struct ImageAxes {
  std::size_t planes = 1;  ///< that lie one behind the other
  std::size_t height = 1, width = 1;
  std::size_t pixel_bytes = 1;

  std::size_t channels_of(DType type) const { return pixel_bytes / size_of(type); }  ///< that lie side by side
};

/// UsageError that names the field if it is no image.
ImageAxes image_axes(const Dataset::Field& field);

/// The field with images of another size, which lie the same way.
Dataset::Field with_size(const Dataset::Field& field, ImageSize size);

/// "224x192" (height and width), or "224" for a square; nothing if it is none, or not from 1 to 65535.
std::optional<ImageSize> parse_size(std::string_view text);

/// UsageError that names the field unless its values are u8 or f32: what resample_image() can.
void require_resampled(const Dataset::Field& field);
/// What a box of an image becomes at another size (resample()), plane by plane.
void resample_image(const Dataset::Field& field, std::span<const std::byte> from, const Box& box, ImageSize size,
                    std::byte* to);

/// Copies a part of an image, whose first row and column are given, plane by plane.
void crop_image(const Dataset::Field& field, std::span<const std::byte> from, std::size_t top, std::size_t left,
                ImageSize size, std::byte* to);

}  // namespace trainrt::data
