#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// An image whose pixels have neighbouring channels: row after row, `channels` values a pixel.
struct Extent {
  std::size_t height = 0, width = 0, channels = 1;
  std::size_t values() const { return height * width * channels; }
};

/// A part of an image, in pixels: between pixels too.
struct Box {
  float top = 0, left = 0, bottom = 0, right = 0;
};

/// All of it.
inline Box whole(const Extent& extent) {
  return {0, 0, static_cast<float>(extent.height), static_cast<float>(extent.width)};
}

/// The largest part in the middle that has the proportions of `height` x `width`, as Pillow's ImageOps.fit takes it.
Box middle_of(const Extent& extent, std::size_t height, std::size_t width);

/// What `box` of an image becomes at `height` x `width` pixels: bilinear with antialias, as Pillow's resize(BILINEAR,
/// box=...) makes it, to the last bit for u8. A pixel is the mean of those around its place, weighed by a triangle that
/// reaches as far as the scale says when the image shrinks, and one pixel when it grows; first along rows, then along
/// columns. Of u8, weights have 22 bits behind the point, and values are rounded between the two. `to` has room for height
/// x width x channels.
void resample(std::span<const std::uint8_t> from, const Extent& extent, const Box& box, std::size_t height,
              std::size_t width, std::uint8_t* to);
void resample(std::span<const float> from, const Extent& extent, const Box& box, std::size_t height, std::size_t width,
              float* to);

}  // namespace trainrt::data
