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

/// Returns the specifications of the keys that all formats with images have: size, resize_mode, channels, layout, type,
/// decode, max_pixels, max_file_bytes.
std::vector<OptionSpec> image_options();

/// Decodes images according to the keys of image_options(). Immutable, so several threads may use an object at the same
/// time. The parameter `what` of the functions names the image in messages ("image 'a.png'").
class ImageDecoder {
 public:
  /// `options` must have been checked against the specifications of image_options().
  explicit ImageDecoder(const Options& options);

  bool decodes() const { return decodes_; }             ///< if false, the field contains the encoded images
  bool resizes() const { return resize_.has_value(); }  ///< if false, all images must have the same size
  std::uint64_t max_file_bytes() const { return max_file_bytes_; }

  /// Returns the size of an image from its header. Throws UsageError if the bytes are not an image, or if the image is
  /// damaged or has more than max_pixels pixels. No memory for pixels is allocated before this check.
  ImageSize size_of(EncodedImage image, const std::string& what) const { return open(image, what)->size(); }
  /// If images are not resized, throws UsageError unless `size`, the size of an image, is `expected`, the size of the other
  /// images of the dataset. The message names both sizes.
  void require_size(const std::string& what, ImageSize size, ImageSize expected) const;
  /// Returns the field of the decoded images. `size` is the size of all images, unless they are resized.
  Dataset::Field field(std::string name, ImageSize size) const;
  /// Returns the field of decoded images of different sizes. Each sample consists of the height and the width of its
  /// image (two 32-bit integers), and its values. The height and the width in the shape of the field are 0.
  Dataset::Field field_of_any_size(std::string name) const;
  /// Decodes an image and returns a sample of the field that field_of_any_size() returns. Throws like size_of().
  std::vector<std::byte> decode_of_any_size(EncodedImage image, const std::string& what) const;
  /// Decodes an image and writes its values to `out`. `field` must be a result of field(), and `out` must have room for one
  /// sample of the field. Throws like size_of() and require_size(). Allocates memory for the pixels of the image and of
  /// the result.
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

/// The sizes of the images of a dataset that were probed before a run starts.
class ProbedSizes {
 public:
  /// `what` names the image in messages ("image 'a.png'").
  void add(const std::string& what, ImageSize size);
  /// Returns the size of the first image that was added.
  std::optional<ImageSize> first() const { return count_ == 0 ? std::nullopt : std::optional(first_); }
  /// Returns whether any image has a different size than the first image.
  bool differ() const { return !different_.empty(); }
  /// Throws UsageError, with the ranges of heights and widths, unless all images have the same size.
  void require_equal() const;

 private:
  std::uint64_t count_ = 0;
  ImageSize first_, min_, max_;
  std::string different_;  ///< name and size of the first image whose size is not first_
};

}  // namespace trainrt::data
