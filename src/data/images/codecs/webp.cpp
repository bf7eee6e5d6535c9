#include <cstring>

#include "data/images/image_codec.hpp"

#ifdef TRAINRT_WEBP
#include <memory>

#include <fmt/format.h>
#include <webp/decode.h>
#endif

namespace trainrt::data {

namespace {

bool is_webp(EncodedImage image) {
  return image.size() >= 12 && std::memcmp(image.data(), "RIFF", 4) == 0 && std::memcmp(image.data() + 8, "WEBP", 4) == 0;
}

#ifdef TRAINRT_WEBP

void require_webp(VP8StatusCode code) {
  if (code == VP8_STATUS_OK) return;
  const auto* const why = code == VP8_STATUS_NOT_ENOUGH_DATA       ? "it is truncated"
                          : code == VP8_STATUS_OUT_OF_MEMORY       ? "there is no memory for it"
                          : code == VP8_STATUS_UNSUPPORTED_FEATURE ? "it uses what libwebp does not know"
                                                                   : "its data are wrong";
  throw UsageError(fmt::format("is a damaged WebP image: {}", why));
}

class WebpReader final : public ImageReader {
 public:
  explicit WebpReader(EncodedImage image) : image_(image) {
    WebPBitstreamFeatures features{};
    require_webp(WebPGetFeatures(bytes(), image.size(), &features));
    if (features.has_animation != 0) throw UsageError("is an animated WebP image; a sample is one image");
    size_ = {static_cast<std::uint32_t>(features.height), static_cast<std::uint32_t>(features.width)};
  }

  ImageSize size() const override { return size_; }

  void decode(int channels, std::uint8_t* out) override {
    if (channels != 1) return decode_as(channels, out);
    const auto pixels = size_.pixels();
    const auto colors = std::make_unique_for_overwrite<std::uint8_t[]>(pixels * 3);
    decode_as(3, colors.get());
    for (std::size_t i = 0; i < pixels; ++i) out[i] = gray_of(colors.get() + 3 * i);
  }

 private:
  const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(image_.data()); }

  void decode_as(int channels, std::uint8_t* out) const {
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0)
      throw UsageError("cannot be read: libwebp is of another version than its headers");
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = out;
    config.output.u.RGBA.stride = static_cast<int>(size_.width) * channels;
    config.output.u.RGBA.size = size_.pixels() * static_cast<unsigned>(channels);
    require_webp(WebPDecode(bytes(), image_.size(), &config));
  }

  EncodedImage image_;
  ImageSize size_;
};

std::unique_ptr<ImageReader> open_webp(EncodedImage image) { return std::make_unique<WebpReader>(image); }

#else

constexpr auto open_webp = nullptr;

#endif

}  // namespace

namespace plugins {

extern const ImageCodec webp{.name = "WebP",
                             .help = "by libwebp, lossless and lossy; alpha is left out but of 4 channels",
                             .package = "libwebp-dev",
                             .is_of = is_webp,
                             .open = open_webp};

}  // namespace plugins

}  // namespace trainrt::data
