#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "data/images/image_codec.hpp"
#include "data/images/resample.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// The layout of an image in memory. The shape of the image is [height, width], [channels, height, width] or [height,
/// width, channels]. A shape with three axes is [height, width, channels] if the last axis has at most 4 elements and the
/// first axis has more than 4.
struct ImageAxes {
  std::size_t planes = 1;  ///< number of planes of height x width pixels, one after another
  std::size_t height = 1, width = 1;
  std::size_t channels = 1;  ///< number of adjacent values of a pixel
  DType dtype = DType::u8;

  std::size_t pixel_bytes() const { return channels * size_of(dtype); }
  std::size_t all_channels() const {
    return planes * channels;
  }  ///< number of channels in both layouts, because `planes` or `channels` is 1
};

/// Returns the layout of the images of a field. Throws UsageError, which names the field, if its samples are not images
/// with at least one pixel.
ImageAxes image_axes(const Dataset::Field& field);

/// Returns `field` with the shape of images of size `size` in the same layout. Throws UsageError if the samples of the
/// field are not images, or if image_axes() would infer a different layout from the new shape.
Dataset::Field with_size(const Dataset::Field& field, ImageSize size);

constexpr std::int64_t max_image_extent = 65535;  ///< maximum height and width in config values
/// Parses "224x192" (height and width), or "224" for a square. Returns nullopt if the text has a different form, or if an
/// extent is not between 1 and max_image_extent.
std::optional<ImageSize> parse_size(std::string_view text);

/// Throws UsageError, which names the field, unless the field has type u8 or f32, the types that resample_image()
/// supports.
void require_u8_or_f32(const Dataset::Field& field);
/// Resizes the part `box` of `image` to `size`, each plane by resample(). `to` must have room for the result.
void resample_image(const ImageAxes& axes, std::span<const std::byte> image, const Box& box, ImageSize size, std::byte* to);

/// Copies the part of `image` that begins at row `top` and column `left` and has the size `size` to `to`, which must have
/// room for this part.
void crop_image(const ImageAxes& axes, std::span<const std::byte> image, std::size_t top, std::size_t left, ImageSize size,
                std::byte* to);

}  // namespace trainrt::data
