#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

#include "core/options.hpp"
#include "data/images/image_codec.hpp"

namespace trainrt::data {

/// The keys of formats whose samples hold images: size, fit, channels, layout, type, decode, most_pixels, max_file_bytes.
std::vector<OptionSpec> image_options();

/// Makes values of encoded images as those keys say. Pure: any threads at once.
class ImageDecoder {
 public:
  /// UsageError that names the key if one will not do.
  explicit ImageDecoder(const Options& options);

  bool decodes() const { return decodes_; }                 ///< else the field holds the bytes of the files
  bool resizes() const { return resize_.has_value(); }      ///< else all images have the same size
  std::uint64_t most_bytes() const { return most_bytes_; }  ///< of an encoded image

  /// The height and width that stand in the header of an image. `what` names the image in the UsageError that is thrown if
  /// it is none, is damaged, or has more pixels than the key most_pixels says: before any memory is taken for them.
  ImageSize size_of(EncodedImage image, const std::string& what) const { return open(image, what)->size(); }
  /// What the images become; `size` is that of all of them, unless they are resized.
  Dataset::Field field(std::string name, ImageSize size) const;
  /// Puts the values of an image down. `field` is what field() returned; another size is a UsageError that names `what` and
  /// both.
  void decode(EncodedImage image, const std::string& what, const Dataset::Field& field, std::byte* out) const;

 private:
  std::unique_ptr<ImageReader> open(EncodedImage image, const std::string& what) const;
  ImageSize size_in(const Dataset::Field& field) const;
  void pixels_of(EncodedImage image, const std::string& what, ImageSize wanted, std::uint8_t* out) const;

  std::optional<ImageSize> resize_;
  bool crops_ = false, is_planar_ = false, decodes_ = true;
  DType type_ = DType::u8;
  int channels_ = 3;
  std::uint64_t most_pixels_ = 0, most_bytes_ = 0;
};

}  // namespace trainrt::data
