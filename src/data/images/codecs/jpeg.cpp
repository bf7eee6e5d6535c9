#include "data/images/image_codec.hpp"

#ifdef TRAINRT_JPEG
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <jpeglib.h>
// jerror.h must be included after jpeglib.h.
#include <jerror.h>
#endif

namespace trainrt::data::plugins {

namespace {

bool is_jpeg(EncodedImage image) { return has_signature(image, "\xff\xd8\xff"); }

#ifdef TRAINRT_JPEG

// Maximum number of scans of a progressive image, as with TJFLAG_LIMITSCANS of turbojpeg. Without a limit, it could take
// hours to decode a file of some kilobytes.
constexpr int max_scans = 500;

/// The state of libjpeg for one image. The library reports errors by longjmp(), so functions that call the library must
/// not have local variables with destructors.
struct Jpeg {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf on_error;
  char reason[JMSG_LENGTH_MAX];
};

[[noreturn]] void handle_error(j_common_ptr info) {
  auto& jpeg = *static_cast<Jpeg*>(info->client_data);
  info->err->format_message(info, jpeg.reason);
  std::longjmp(jpeg.on_error, 1);
}

/// Treats a warning of libjpeg as an error, because it means that pixels are damaged. Exceptions: bytes that some encoders
/// leave between segments, and unusual version numbers.
void handle_warning(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA && info->err->msg_code != JWRN_ADOBE_XFORM &&
      info->err->msg_code != JWRN_JFIF_MAJOR)
    handle_error(info);
}

void limit_scans(j_common_ptr info) {
  auto& jpeg = *static_cast<Jpeg*>(info->client_data);
  if (jpeg.info.input_scan_number <= max_scans) return;
  std::snprintf(jpeg.reason, sizeof jpeg.reason, "it has more than %d scans", max_scans);
  std::longjmp(jpeg.on_error, 1);
}

/// Reads the header. Returns false and sets jpeg.reason if the header cannot be read.
bool read_header(Jpeg& jpeg, EncodedImage image) {
  std::memset(&jpeg, 0, sizeof jpeg);
  jpeg.info.err = jpeg_std_error(&jpeg.errors);
  jpeg.errors.error_exit = handle_error;
  jpeg.errors.emit_message = handle_warning;
  jpeg.info.client_data = &jpeg;
  if (setjmp(jpeg.on_error) != 0) return false;
  jpeg_create_decompress(&jpeg.info);
  jpeg.progress.progress_monitor = limit_scans;
  jpeg.info.progress = &jpeg.progress;
  jpeg_mem_src(&jpeg.info, reinterpret_cast<const unsigned char*>(image.data()), image.size());
  jpeg_read_header(&jpeg.info, TRUE);
  return true;
}

/// Reads all rows. Returns false and sets jpeg.reason if they cannot be read.
bool read_rows(Jpeg& jpeg, J_COLOR_SPACE space, std::size_t row_bytes, std::uint8_t* out) {
  if (setjmp(jpeg.on_error) != 0) return false;
  jpeg.info.out_color_space = space;
  jpeg_start_decompress(&jpeg.info);
  while (jpeg.info.output_scanline < jpeg.info.output_height) {
    constexpr JDIMENSION max_rows = 16;  // maximum number of rows per call
    JSAMPROW rows[max_rows];
    JDIMENSION count = 0;
    for (; count < max_rows && jpeg.info.output_scanline + count < jpeg.info.output_height; ++count)
      rows[count] = out + (jpeg.info.output_scanline + count) * row_bytes;
    jpeg_read_scanlines(&jpeg.info, rows, count);
  }
  jpeg_finish_decompress(&jpeg.info);
  return true;
}

/// Returns a * b / 255, rounded to the nearest integer. Both factors must be at most 255.
unsigned multiply_fractions(unsigned a, unsigned b) {
  const auto product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/// Converts CMYK to gray, RGB or RGBA, as Pillow does. `is_inverted`: 255 means no ink, as in files of Adobe's programs.
void convert_cmyk(const std::uint8_t* cmyk, std::size_t pixels, bool is_inverted, int channels, std::uint8_t* out) {
  const unsigned mask = is_inverted ? 0xff : 0;
  for (std::size_t i = 0; i < pixels; ++i, cmyk += 4, out += channels) {
    const auto light = 255 - (cmyk[3] ^ mask);
    std::uint8_t rgb[3];
    for (int color = 0; color < 3; ++color)
      rgb[color] = static_cast<std::uint8_t>(light - multiply_fractions(cmyk[color] ^ mask, light));
    if (channels == 1) {
      *out = gray_of(rgb);
      continue;
    }
    std::memcpy(out, rgb, 3);
    if (channels == 4) out[3] = 255;
  }
}

class JpegReader final : public ImageReader {
 public:
  explicit JpegReader(EncodedImage image) {
    if (read_header(jpeg_, image)) return;
    jpeg_destroy_decompress(&jpeg_.info);
    fail();
  }
  ~JpegReader() override { jpeg_destroy_decompress(&jpeg_.info); }
  JpegReader(const JpegReader&) = delete;

  ImageSize size() const override { return {jpeg_.info.image_height, jpeg_.info.image_width}; }

  void decode(int channels, std::uint8_t* out) override {
    const auto space = jpeg_.info.jpeg_color_space;
    if (space != JCS_CMYK && space != JCS_YCCK)
      return read(channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_EXT_RGBA, channels, out);
    const auto pixels = size().pixels();
    const auto cmyk = std::make_unique_for_overwrite<std::uint8_t[]>(pixels * 4);
    read(JCS_CMYK, 4, cmyk.get());
    convert_cmyk(cmyk.get(), pixels, jpeg_.info.saw_Adobe_marker != 0, channels, out);
  }

 private:
  void read(J_COLOR_SPACE space, int channels, std::uint8_t* out) {
    if (!read_rows(jpeg_, space, std::size_t{jpeg_.info.image_width} * static_cast<unsigned>(channels), out)) fail();
  }

  [[noreturn]] void fail() const {
    throw UsageError(
        fmt::format("is a damaged JPEG image, or has a feature that libjpeg does not support: {}", jpeg_.reason));
  }

  Jpeg jpeg_;
};

std::unique_ptr<ImageReader> open_jpeg(EncodedImage image) { return std::make_unique<JpegReader>(image); }

#else

constexpr auto open_jpeg = nullptr;

#endif

}  // namespace

extern const ImageCodec jpeg{
    .name = "JPEG",
    .help =
        "decoded by libjpeg-turbo with the exact inverse transform and smooth upsampling of colors, like Pillow; "
        "for 1 channel the image's luma is used; the orientation in EXIF is ignored",
    .package = "libjpeg62-turbo-dev",
    .is_of = is_jpeg,
    .open = open_jpeg};

}  // namespace trainrt::data::plugins
