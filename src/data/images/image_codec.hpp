#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/plugin.hpp"

namespace trainrt::data {

/// The bytes of an encoded image, as in a file.
using EncodedImage = std::span<const std::byte>;

struct ImageSize {
  std::uint32_t height = 0, width = 0;
  bool operator==(const ImageSize&) const = default;
  std::uint64_t pixels() const { return std::uint64_t{height} * width; }
};

/// An image of which the header has been read. Refers to the encoded bytes, which must outlive this object.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  virtual ImageSize size() const = 0;
  /// Writes the pixels to `out`, row by row. `channels` is the number of bytes per pixel: 1 (gray), 3 (R, G, B) or 4 (R, G,
  /// B, alpha). `out` must have room for all pixels. May be called at most once. Throws UsageError if the data are damaged
  /// or truncated.
  virtual void decode(int channels, std::uint8_t* out) = 0;
};

/// A plug-in that decodes one image format. Each plug-in is one file in data/images/codecs. The messages of its errors
/// begin with a verb ("is empty"), because the caller puts the name of the image in front.
struct ImageCodec {
  std::string_view name;
  std::string_view help;
  std::string_view package;  ///< Debian package that trainrt needs at build time to decode the format
  /// Returns whether an image has this format. `image` contains at least the first 12 bytes of the image, or all bytes of
  /// a shorter image.
  bool (*is_of)(EncodedImage image) = nullptr;
  /// Reads the header of an image, and allocates no memory for pixels. Throws UsageError if the image is damaged or has a
  /// feature that is not supported. The pointer is nullptr if trainrt was built without this codec.
  std::unique_ptr<ImageReader> (*open)(EncodedImage image) = nullptr;
};

PluginTable<ImageCodec> image_codec_table();

/// Opens an image of any format. The first bytes determine the format. Throws UsageError if the format is unknown or not
/// supported by this build, or if the image is damaged. The caller puts the name of the image in front of the message.
std::unique_ptr<ImageReader> open_image(EncodedImage image);

/// Returns whether the bytes of `image` at `offset` are equal to `signature`.
bool has_signature(EncodedImage image, std::string_view signature, std::size_t offset = 0);

/// Returns the gray value of a color, by the weights of ITU-R BT.601. Computes exactly the same integers as Pillow:
/// (19595 R + 38470 G + 7471 B + 2^15) >> 16.
inline std::uint8_t gray_of(const std::uint8_t* rgb) {
  constexpr unsigned red = 19595, green = 38470, blue = 7471, half = 1U << 15;
  return static_cast<std::uint8_t>((red * rgb[0] + green * rgb[1] + blue * rgb[2] + half) >> 16);
}

/// Writes the gray values of `pixels` pixels to `out`. Calls `decode_rgb` once to get the RGB values, with the memory into
/// which it must write them.
template <class DecodeRgb>
void decode_gray(std::uint64_t pixels, std::uint8_t* out, const DecodeRgb& decode_rgb) {
  const auto colors = std::make_unique_for_overwrite<std::uint8_t[]>(pixels * 3);
  decode_rgb(colors.get());
  for (std::uint64_t i = 0; i < pixels; ++i) out[i] = gray_of(colors.get() + 3 * i);
}

}  // namespace trainrt::data
