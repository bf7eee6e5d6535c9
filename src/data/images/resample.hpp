#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// The shape of an image in memory: rows of pixels with `channels` adjacent values.
struct Extent {
  std::size_t height = 0, width = 0, channels = 1;
  std::size_t values() const { return height * width * channels; }
};

/// A rectangular part of an image. The edges are positions in pixels, which may be fractions.
struct Box {
  float top = 0, left = 0, bottom = 0, right = 0;
};

/// Returns the box of the complete image.
inline Box full_box(const Extent& extent) {
  return {0, 0, static_cast<float>(extent.height), static_cast<float>(extent.width)};
}

/// Returns the largest centered part that has the proportions of `height` x `width`, as Pillow's ImageOps.fit chooses it.
Box centered_box(const Extent& extent, std::size_t height, std::size_t width);

/// Resizes the part `box` of the image `from` to `height` x `width` pixels, by bilinear interpolation with antialiasing.
/// For u8, the results are exactly those of Pillow's resize(BILINEAR, box=...).
///
/// A new pixel is the weighted mean of the old pixels around its position. The weights form a triangle. Its half width is
/// one old pixel if the image grows, and `scale` old pixels if the image shrinks by the factor `scale`. Rows are resized
/// first, then columns. For u8, weights have 22 fractional bits, and values are rounded after each of these two steps.
///
/// `to` must have room for height x width x channels values. Allocates memory in proportion to the values of `from` and
/// `to`.
void resample(std::span<const std::uint8_t> from, const Extent& extent, const Box& box, std::size_t height,
              std::size_t width, std::uint8_t* to);
void resample(std::span<const float> from, const Extent& extent, const Box& box, std::size_t height, std::size_t width,
              float* to);

}  // namespace trainrt::data
