#include "data/images/image_codec.hpp"

#ifdef TRAINRT_WEBP
#include <fmt/format.h>
#include <webp/decode.h>
#endif

namespace trainrt::data::plugins {

namespace {

bool is_webp(EncodedImage image) { return has_signature(image, "RIFF") && has_signature(image, "WEBP", 8); }

#ifdef TRAINRT_WEBP

void require_ok(VP8StatusCode code) {
  if (code == VP8_STATUS_OK) return;
  if (code == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code == VP8_STATUS_UNSUPPORTED_FEATURE)
    throw UsageError("is a WebP image with a feature that libwebp does not support");
  throw UsageError(fmt::format("is a damaged WebP image: {}",
                               code == VP8_STATUS_NOT_ENOUGH_DATA ? "it is truncated" : "its data are invalid"));
}

class WebpReader final : public ImageReader {
 public:
  explicit WebpReader(EncodedImage image) : image_(image) {
    WebPBitstreamFeatures features{};
    require_ok(WebPGetFeatures(bytes(), image.size(), &features));
    if (features.has_animation != 0)
      throw UsageError("is an animated WebP image, which is not supported; save one frame as a still image");
    size_ = {static_cast<std::uint32_t>(features.height), static_cast<std::uint32_t>(features.width)};
  }

  ImageSize size() const override { return size_; }

  void decode(int channels, std::uint8_t* out) override {
    if (channels != 1) return decode_colors(channels, out);
    decode_gray(size_.pixels(), out, [&](std::uint8_t* rgb) { decode_colors(3, rgb); });
  }

 private:
  const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(image_.data()); }

  void decode_colors(int channels, std::uint8_t* out) const {
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0)
      throw UsageError(
          "cannot be decoded: the loaded libwebp is not compatible with the version that trainrt was built with");
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = out;
    config.output.u.RGBA.stride = static_cast<int>(size_.width) * channels;
    config.output.u.RGBA.size = size_.pixels() * static_cast<unsigned>(channels);
    require_ok(WebPDecode(bytes(), image_.size(), &config));
  }

  EncodedImage image_;
  ImageSize size_;
};

std::unique_ptr<ImageReader> open_webp(EncodedImage image) { return std::make_unique<WebpReader>(image); }

#else

constexpr auto open_webp = nullptr;

#endif

}  // namespace

extern const ImageCodec webp{
    .name = "WebP",
    .help = "decoded by libwebp: lossless and lossy, without animations; alpha only with 4 channels",
    .package = "libwebp-dev",
    .is_of = is_webp,
    .open = open_webp};

}  // namespace trainrt::data::plugins
