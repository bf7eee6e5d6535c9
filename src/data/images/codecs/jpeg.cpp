#include <cstdio>
#include <cstring>

#include "data/images/image_codec.hpp"

#ifdef TRAINRT_JPEG
#include <csetjmp>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <jpeglib.h>
// Behind jpeglib.h.
#include <jerror.h>
#endif

namespace trainrt::data {

namespace {

bool is_jpeg(EncodedImage image) { return image.size() >= 3 && std::memcmp(image.data(), "\xff\xd8\xff", 3) == 0; }

#ifdef TRAINRT_JPEG

constexpr int most_jpeg_scans = 500;  // as TJFLAG_LIMITSCANS of turbojpeg: a file of some kilobytes can ask for hours

/// One image, as libjpeg reads it. The library returns from an error by longjmp(), so that functions that call it hold
/// nothing that would have to be destroyed.
struct Jpeg {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf on_error;
  char reason[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave_jpeg(j_common_ptr info) {
  auto& jpeg = *static_cast<Jpeg*>(info->client_data);
  info->err->format_message(info, jpeg.reason);
  std::longjmp(jpeg.on_error, 1);
}

/// Some encoders leave bytes between segments, which harm nothing; whatever else is warned of has damaged the pixels.
void note_jpeg(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA && info->err->msg_code != JWRN_ADOBE_XFORM &&
      info->err->msg_code != JWRN_JFIF_MAJOR)
    leave_jpeg(info);
}

void count_jpeg_scans(j_common_ptr info) {
  auto& jpeg = *static_cast<Jpeg*>(info->client_data);
  if (jpeg.info.input_scan_number <= most_jpeg_scans) return;
  std::snprintf(jpeg.reason, sizeof jpeg.reason, "it has more than %d scans", most_jpeg_scans);
  std::longjmp(jpeg.on_error, 1);
}

bool read_jpeg_header(Jpeg& jpeg, EncodedImage image) {
  std::memset(&jpeg, 0, sizeof jpeg);
  jpeg.info.err = jpeg_std_error(&jpeg.errors);
  jpeg.errors.error_exit = leave_jpeg;
  jpeg.errors.emit_message = note_jpeg;
  jpeg.info.client_data = &jpeg;
  if (setjmp(jpeg.on_error) != 0) return false;
  jpeg_create_decompress(&jpeg.info);
  jpeg.progress.progress_monitor = count_jpeg_scans;
  jpeg.info.progress = &jpeg.progress;
  jpeg_mem_src(&jpeg.info, reinterpret_cast<const unsigned char*>(image.data()), image.size());
  jpeg_read_header(&jpeg.info, TRUE);
  return true;
}

bool read_jpeg_rows(Jpeg& jpeg, J_COLOR_SPACE space, std::uint8_t* out, std::size_t row_bytes) {
  if (setjmp(jpeg.on_error) != 0) return false;
  jpeg.info.out_color_space = space;
  jpeg_start_decompress(&jpeg.info);
  while (jpeg.info.output_scanline < jpeg.info.output_height) {
    constexpr JDIMENSION at_once = 16;
    JSAMPROW rows[at_once];
    JDIMENSION count = 0;
    for (; count < at_once && jpeg.info.output_scanline + count < jpeg.info.output_height; ++count)
      rows[count] = out + (jpeg.info.output_scanline + count) * row_bytes;
    jpeg_read_scanlines(&jpeg.info, rows, count);
  }
  jpeg_finish_decompress(&jpeg.info);
  return true;
}

unsigned part_of_255(unsigned a, unsigned b) {
  const auto product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/// As Pillow: inks to light. Adobe's programs write them the other way round.
void colors_of_inks(const std::uint8_t* inks, std::size_t pixels, bool is_inverted, int channels, std::uint8_t* out) {
  for (std::size_t i = 0; i < pixels; ++i, inks += 4, out += channels) {
    const unsigned turn = is_inverted ? 0xff : 0;
    const auto paper = 255 - (inks[3] ^ turn);
    std::uint8_t rgb[3];
    for (int color = 0; color < 3; ++color)
      rgb[color] = static_cast<std::uint8_t>(paper - part_of_255(inks[color] ^ turn, paper));
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
    if (read_jpeg_header(jpeg_, image)) return;
    jpeg_destroy_decompress(&jpeg_.info);
    fail();
  }
  ~JpegReader() override { jpeg_destroy_decompress(&jpeg_.info); }
  JpegReader(const JpegReader&) = delete;

  ImageSize size() const override { return {jpeg_.info.image_height, jpeg_.info.image_width}; }

  void decode(int channels, std::uint8_t* out) override {
    const auto space = jpeg_.info.jpeg_color_space;
    if (space == JCS_CMYK || space == JCS_YCCK) return decode_inks(channels, out);
    const auto wanted = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_EXT_RGBA;
    if (!read_jpeg_rows(jpeg_, wanted, out, std::size_t{jpeg_.info.image_width} * static_cast<unsigned>(channels))) fail();
  }

 private:
  void decode_inks(int channels, std::uint8_t* out) {
    const auto pixels = size().pixels();
    const auto inks = std::make_unique_for_overwrite<std::uint8_t[]>(pixels * 4);
    if (!read_jpeg_rows(jpeg_, JCS_CMYK, inks.get(), std::size_t{jpeg_.info.image_width} * 4)) fail();
    colors_of_inks(inks.get(), pixels, jpeg_.info.saw_Adobe_marker != 0, channels, out);
  }

  [[noreturn]] void fail() const { throw UsageError(fmt::format("is a damaged JPEG image: {}", jpeg_.reason)); }

  Jpeg jpeg_;
};

std::unique_ptr<ImageReader> open_jpeg(EncodedImage image) { return std::make_unique<JpegReader>(image); }

#else

constexpr auto open_jpeg = nullptr;

#endif

}  // namespace

namespace plugins {

extern const ImageCodec jpeg{.name = "JPEG",
                             .help =
                                 "by libjpeg-turbo: the exact inverse transform, colors spread smoothly, as Pillow does "
                                 "it. Gray is the image's own luma; an "
                                 "orientation in EXIF is not applied",
                             .package = "libjpeg62-turbo-dev",
                             .is_of = is_jpeg,
                             .open = open_jpeg};

}  // namespace plugins

}  // namespace trainrt::data
