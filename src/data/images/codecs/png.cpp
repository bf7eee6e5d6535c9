#include <cstring>

#include "data/images/image_codec.hpp"

#ifdef TRAINRT_PNG
#include <memory>

#include <fmt/format.h>
#include <spng.h>
#endif

namespace trainrt::data {

namespace {

bool is_png(EncodedImage image) { return image.size() >= 8 && std::memcmp(image.data(), "\x89PNG\r\n\x1a\n", 8) == 0; }

#ifdef TRAINRT_PNG

constexpr std::size_t most_png_chunk = 1 << 20,
                      most_png_chunks = 16 << 20;  // bytes of texts and color profiles, which nobody reads

void require_png(int code) {
  if (code != 0) throw UsageError(fmt::format("is a damaged PNG image: {}", spng_strerror(code)));
}

class PngReader final : public ImageReader {
 public:
  explicit PngReader(EncodedImage image) : png_(spng_ctx_new(0), spng_ctx_free) {
    if (!png_) throw std::bad_alloc();
    require_png(spng_set_chunk_limits(png_.get(), most_png_chunk, most_png_chunks));
    require_png(spng_set_crc_action(png_.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR));
    require_png(spng_set_png_buffer(png_.get(), image.data(), image.size()));
    require_png(spng_get_ihdr(png_.get(), &header_));
  }

  ImageSize size() const override { return {header_.height, header_.width}; }

  void decode(int channels, std::uint8_t* out) override {
    constexpr int eight_bits = 8;
    const bool is_gray = header_.color_type == SPNG_COLOR_TYPE_GRAYSCALE && header_.bit_depth <= eight_bits;
    const auto pixels = size().pixels();
    if (channels == 4) return decode_as(SPNG_FMT_RGBA8, SPNG_DECODE_TRNS, pixels * 4, out);
    if (channels == 3) return decode_as(SPNG_FMT_RGB8, 0, pixels * 3, out);
    if (is_gray) return decode_as(SPNG_FMT_G8, 0, pixels, out);
    const auto colors = std::make_unique_for_overwrite<std::uint8_t[]>(pixels * 3);
    decode_as(SPNG_FMT_RGB8, 0, pixels * 3, colors.get());
    for (std::size_t i = 0; i < pixels; ++i) out[i] = gray_of(colors.get() + 3 * i);
  }

 private:
  void decode_as(int format, int flags, std::size_t bytes, std::uint8_t* out) {
    std::size_t needed = 0;
    require_png(spng_decoded_image_size(png_.get(), format, &needed));
    if (needed != bytes) throw UsageError("is a PNG image that libspng makes another size of");
    require_png(spng_decode_image(png_.get(), out, bytes, format, flags));
    require_png(spng_decode_chunks(png_.get()));  // up to the end
  }

  std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png_;
  spng_ihdr header_{};
};

std::unique_ptr<ImageReader> open_png(EncodedImage image) { return std::make_unique<PngReader>(image); }

#else

constexpr auto open_png = nullptr;

#endif

}  // namespace

namespace plugins {

extern const ImageCodec png{
    .name = "PNG",
    .help =
        "by libspng, exact: palettes as their colors, of 16 bits the upper 8; alpha is left out but of 4 "
        "channels; gamma and color profiles change nothing",
    .package = "libspng-dev",
    .is_of = is_png,
    .open = open_png};

}  // namespace plugins

}  // namespace trainrt::data
