#include "data/images/image_codec.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

std::unique_ptr<ImageReader> open_image(EncodedImage image) {
  if (image.empty()) throw UsageError("is empty");
  for (const auto* codec : image_codec_table()) {
    if (!codec->is_of(image)) continue;
    if (codec->open != nullptr) return codec->open(image);
    throw UsageError(
        fmt::format("is a {} image, and trainrt was built without the package {}", codec->name, codec->package));
  }
  throw UsageError(fmt::format("is no image that can be read; these can: {}", join(names_of(image_codec_table()))));
}

}  // namespace trainrt::data
