#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

#include "core/options.hpp"
#include "data/images/image_codec.hpp"

namespace trainrt::data {

/// Returns the keys of formats that hold images: size, resize_mode, channels, layout, type, decode, max_pixels,
/// max_file_bytes.
std::vector<OptionSpec> image_options();

/// Decodes images as the keys of image_options() request. Immutable: several threads may use it at the same time. `what`
/// names an image in messages ("image 'a.png'").
class ImageDecoder {
 public:
  /// `options`: checked against image_options().
  explicit ImageDecoder(const Options& options);

  bool decodes() const { return decodes_; }             ///< if false, the field contains the encoded images
  bool resizes() const { return resize_.has_value(); }  ///< if false, all images must have the same size
  std::uint64_t max_file_bytes() const { return max_file_bytes_; }

  /// Returns the size from the header of an image. Throws UsageError if it is not an image, is damaged, or has more than
  /// max_pixels pixels, before memory for pixels is allocated.
  ImageSize size_of(EncodedImage image, const std::string& what) const { return open(image, what)->size(); }
  /// Throws UsageError that names both sizes if an image of `size` cannot be in a dataset with images of size `expected`.
  void require_size(const std::string& what, ImageSize size, ImageSize expected) const;
  /// Returns the field of the decoded images. `size` is the size of all images, unless they are resized.
  Dataset::Field field(std::string name, ImageSize size) const;
  /// Writes the values of an image to `out`, which has room for a sample of `field`, a field that field() returned. Throws
  /// UsageError as size_of() and require_size() do. Needs memory for the pixels of the image and of the result.
  void decode(EncodedImage image, const std::string& what, const Dataset::Field& field, std::byte* out) const;

 private:
  std::unique_ptr<ImageReader> open(EncodedImage image, const std::string& what) const;
  void decode_pixels(EncodedImage image, const std::string& what, ImageSize wanted, std::uint8_t* out) const;

  std::optional<ImageSize> resize_;
  bool crops_ = false, is_planar_ = false, decodes_ = true;
  DType type_ = DType::u8;
  int channels_ = 3;
  std::uint64_t max_pixels_ = 0, max_file_bytes_ = 0;
};

}  // namespace trainrt::data
