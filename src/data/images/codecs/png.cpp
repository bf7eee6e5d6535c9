#include "data/images/image_codec.hpp"

#ifdef TRAINRT_PNG
#include <fmt/format.h>
#include <spng.h>
#endif

namespace trainrt::data::plugins {

namespace {

bool is_png(EncodedImage image) { return has_signature(image, "\x89PNG\r\n\x1a\n"); }

#ifdef TRAINRT_PNG

// Maximum memory for texts and color profiles of an image, in bytes per chunk and in total. The pixels are decoded without
// these data.
constexpr std::size_t max_chunk_bytes = 1 << 20, max_chunk_cache_bytes = 16 << 20;

void require_ok(int code) {
  if (code != 0) throw UsageError(fmt::format("is a damaged PNG image: {}", spng_strerror(code)));
}

class PngReader final : public ImageReader {
 public:
  explicit PngReader(EncodedImage image) : png_(spng_ctx_new(0), spng_ctx_free) {
    if (!png_) throw std::bad_alloc();
    require_ok(spng_set_chunk_limits(png_.get(), max_chunk_bytes, max_chunk_cache_bytes));
    require_ok(spng_set_crc_action(png_.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR));
    require_ok(spng_set_png_buffer(png_.get(), image.data(), image.size()));
    require_ok(spng_get_ihdr(png_.get(), &header_));
  }

  ImageSize size() const override { return {header_.height, header_.width}; }

  void decode(int channels, std::uint8_t* out) override {
    const bool is_gray8 = header_.color_type == SPNG_COLOR_TYPE_GRAYSCALE && header_.bit_depth <= 8;
    if (channels == 4)
      decode_as(SPNG_FMT_RGBA8, SPNG_DECODE_TRNS, 4, out);
    else if (channels == 3)
      decode_as(SPNG_FMT_RGB8, 0, 3, out);
    else if (is_gray8)
      decode_as(SPNG_FMT_G8, 0, 1, out);
    else
      decode_gray(size().pixels(), out, [&](std::uint8_t* rgb) { decode_as(SPNG_FMT_RGB8, 0, 3, rgb); });
  }

 private:
  void decode_as(int format, int flags, unsigned channels, std::uint8_t* out) {
    const auto bytes = size().pixels() * channels;
    std::size_t needed = 0;
    require_ok(spng_decoded_image_size(png_.get(), format, &needed));
    if (needed != bytes)
      throw UsageError(fmt::format("is a PNG image that libspng decodes to {} bytes, not {}", needed, bytes));
    require_ok(spng_decode_image(png_.get(), out, bytes, format, flags));
    require_ok(spng_decode_chunks(png_.get()));  // also checks the chunks after the pixels
  }

  std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png_;
  spng_ihdr header_{};
};

std::unique_ptr<ImageReader> open_png(EncodedImage image) { return std::make_unique<PngReader>(image); }

#else

constexpr auto open_png = nullptr;

#endif

}  // namespace

extern const ImageCodec png{
    .name = "PNG",
    .help =
        "decoded exactly by libspng: palettes as their colors, "
        "16-bit values as their upper 8 bits, alpha only with 4 channels; gamma and color profiles are ignored",
    .package = "libspng-dev",
    .is_of = is_png,
    .open = open_png};

}  // namespace trainrt::data::plugins
