#include "data/images/image_codec.hpp"

#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

std::unique_ptr<ImageReader> open_image(EncodedImage image) {
  if (image.empty()) throw UsageError("is empty");
  for (const auto* codec : image_codec_table()) {
    if (!codec->is_of(image)) continue;
    if (codec->open != nullptr) return codec->open(image);
    throw UsageError(
        fmt::format("is a {} image, but trainrt was built without the package {}; install the package, and build "
                    "trainrt again",
                    codec->name, codec->package));
  }
  throw UsageError(
      fmt::format("is not an image of a supported format; supported are {}", join(names_of(image_codec_table()))));
}

bool has_signature(EncodedImage image, std::string_view signature, std::size_t offset) {
  return image.size() >= offset + signature.size() &&
         std::memcmp(image.data() + offset, signature.data(), signature.size()) == 0;
}

}  // namespace trainrt::data
