#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/plugin.hpp"

namespace trainrt::data {

/// An image as it stands in a file, in memory.
using EncodedImage = std::span<const std::byte>;

struct ImageSize {
  std::uint32_t height = 0, width = 0;
  bool operator==(const ImageSize&) const = default;
  std::uint64_t pixels() const { return std::uint64_t{height} * width; }
};

/// An image whose header was read. It is decoded once, at most. The encoded bytes live as long.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  virtual ImageSize size() const = 0;
  /// Its pixels, row after row, of 1 (gray), 3 (R, G, B) or 4 (R, G, B, alpha) bytes each; `out` has room for them. An
  /// image that ends too early, or has damaged data, is an error, not a gray area.
  virtual void decode(int channels, std::uint8_t* out) = 0;
};

/// A plug-in: one file in data/image_codecs. What is thrown are UsageErrors that say what is wrong with the image ("is
/// truncated"); who calls names it.
struct ImageCodec {
  std::string_view name;
  std::string_view help;
  std::string_view package;  ///< Debian's, with which trainrt was built if it knows the format
  /// Whether the first bytes (12 or all) are those of such an image.
  bool (*is_of)(EncodedImage image) = nullptr;
  /// Reads its header alone: no memory is taken for pixels. nullptr if the format is not built in.
  std::unique_ptr<ImageReader> (*open)(EncodedImage image) = nullptr;
};

PluginTable<ImageCodec> image_codec_table();

/// Opens an image of any format, told by its first bytes. UsageError if there is none, or it is not built in.
std::unique_ptr<ImageReader> open_image(EncodedImage image);

/// The gray of a color, as ITU-R BT.601 weighs it, in whole numbers as Pillow does: (19595 R + 38470 G + 7471 B + 2^15)
/// >> 16.
inline std::uint8_t gray_of(const std::uint8_t* rgb) {
  constexpr unsigned red = 19595, green = 38470, blue = 7471, half = 1U << 15;
  return static_cast<std::uint8_t>((red * rgb[0] + green * rgb[1] + blue * rgb[2] + half) >> 16);
}

}  // namespace trainrt::data
