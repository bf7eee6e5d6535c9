// Decodes images of all formats: exactly as many pixels as the header declares are written, and a damaged image is an
// error.
#include "data/images/image_codec.hpp"

#include <zlib.h>

#include "data/images/image_decoder.hpp"
#include "data/source/source.hpp"
#include "support/cpp/image_bytes.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  using namespace test;
  return {png_2x3(), webp_2x3(), jpeg_8x16(), jpeg_progressive(), webp_animated()};
}

std::vector<std::string> words() {
  return {"IHDR", "PLTE",     "tRNS",     "IDAT",     "IEND",     "VP8 ",     "VP8L",    "VP8X",
          "ALPH", "\xff\xd8", "\xff\xd9", "\xff\xc0", "\xff\xc2", "\xff\xda", "\xff\xc4"};
}

/// Returns the PNG with corrected checksums of its chunks. Otherwise, every mutated file would be refused at its first
/// chunk.
std::string with_checksums(std::string png) {
  constexpr std::size_t signature = 8, around = 12;  // length, name, checksum
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(png[at])}; };
  for (std::size_t at = signature; at + around <= png.size();) {
    const auto length = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    if (length > png.size() - at - around) break;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(png.data() + at + 4), static_cast<uInt>(length + 4));
    for (std::size_t i = 0; i < 4; ++i) png[at + 8 + length + i] = static_cast<char>(sum >> (24 - 8 * i));
    at += length + around;
  }
  return png;
}

void read_image(const std::string& input) {
  const auto image = std::as_bytes(std::span(input));
  for (const std::string channels : {"1", "3", "4"}) {
    Options given;
    given.set("channels", {channels, "x.ini:1"});
    given.set("max_pixels", {"40000", "x.ini:1"});
    const auto specs = data::image_options();
    const data::ImageDecoder decoder(checked(given, specs, "[data.x]"));
    const auto size = unless_refused<UsageError>([&] { return decoder.size_of(image, "x"); });
    if (!size) continue;
    require(size->pixels() > 0 && size->pixels() <= 40000, "an image has as many pixels as the limit allows");
    const auto field = decoder.field("x", *size);
    std::vector<std::byte> pixels(data::sample_bytes(field));
    unless_refused<UsageError>([&] { return decoder.decode(image, "x", field, pixels.data()), true; });
  }
}

void read(const std::string& input) {
  read_image(input);
  if (input.starts_with("\x89PNG")) read_image(with_checksums(input));
}

}  // namespace trainrt::fuzz
