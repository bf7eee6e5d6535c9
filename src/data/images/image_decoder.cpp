#include "data/images/image_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/images/image_axes.hpp"
#include "data/images/resample.hpp"

namespace trainrt::data {

namespace {

std::string in_words(ImageSize size) { return fmt::format("{} x {}", size.height, size.width); }

/// An error about an image, with its name in front.
template <class Call>
auto of_image(const std::string& what, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(fmt::format("{} {}", what, error.what()));
}

void planes_of(const std::uint8_t* pixels, std::size_t count, std::size_t channels, std::uint8_t* out) {
  for (std::size_t channel = 0; channel < channels; ++channel)
    for (std::size_t i = 0; i < count; ++i) *out++ = pixels[i * channels + channel];
}

void parts_of_one(const std::uint8_t* bytes, std::size_t count, std::byte* out) {
  static const auto table = [] {
    std::array<float, 256> made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<float>(i) / 255.0F;
    return made;
  }();
  for (std::size_t i = 0; i < count; ++i) std::memcpy(out + i * sizeof(float), &table[bytes[i]], sizeof(float));
}

std::vector<OptionSpec> options_of_shape() {
  return {{.key = "size",
           .default_value = "",
           .help = "height and width that images are brought to: bilinear with antialias, as Pillow's; without it all have "
                   "the same",
           .form = "HEIGHTxWIDTH, 224x224",
           .fits = [](std::string_view text) { return text.empty() || parse_size(text).has_value(); }},
          {.key = "fit",
           .default_value = "stretch",
           .help = "how size treats other proportions: stretch changes them, crop takes the largest part in the middle "
                   "that has them",
           .choices = {"stretch", "crop"}},
          {.key = "channels",
           .default_value = "3",
           .help = "of a pixel: 1 (gray), 3 (RGB), 4 (RGBA)",
           .choices = {"1", "3", "4"}},
          {.key = "layout",
           .default_value = "interleaved",
           .help = "shape of an image: interleaved [height, width, channels], or planar [channels, height, width]",
           .choices = {"interleaved", "planar"}},
          {.key = "type",
           .default_value = "u8",
           .help = "of the values: u8, or f32, which are from 0 to 1",
           .choices = {"u8", "f32"}}};
}

}  // namespace

std::vector<OptionSpec> image_options() {
  auto options = options_of_shape();
  options.push_back({.key = "decode",
                     .type = OptionType::boolean,
                     .default_value = "true",
                     .help = "false: the field holds images as they are encoded, bytes that vary in length"});
  options.push_back({.key = "most_pixels",
                     .type = OptionType::integer,
                     .default_value = "100000000",
                     .help = "an image of more pixels is an error: it is told from its header, before memory is taken",
                     .range = {.least = 1, .most = 0x1p32}});
  options.push_back({.key = "max_file_bytes",
                     .type = OptionType::bytes,
                     .default_value = "64 MiB",
                     .help = "of a file or an entry that is read as a whole; a larger one is an error"});
  return options;
}

ImageDecoder::ImageDecoder(const Options& options)
    : crops_(options.text("fit") == "crop"),
      is_planar_(options.text("layout") == "planar"),
      decodes_(options.boolean("decode")),
      type_(options.text("type") == "f32" ? DType::f32 : DType::u8),
      channels_(static_cast<int>(parse_integer(options.text("channels")).value_or(3))),
      most_pixels_(static_cast<std::uint64_t>(options.integer("most_pixels"))),
      most_bytes_(options.bytes("max_file_bytes")) {
  if (const auto text = options.text("size"); !text.empty()) resize_ = parse_size(text);
}

std::unique_ptr<ImageReader> ImageDecoder::open(EncodedImage image, const std::string& what) const {
  return of_image(what, [&] {
    auto reader = open_image(image);
    const auto size = reader->size();
    if (size.pixels() == 0) throw UsageError("is an image without pixels");
    if (size.pixels() > most_pixels_)
      throw UsageError(fmt::format("is an image of {} pixels: more than most_pixels = {}", in_words(size), most_pixels_));
    return reader;
  });
}

Dataset::Field ImageDecoder::field(std::string name, ImageSize size) const {
  if (!decodes_) return {std::move(name), DType::u8, {}, true};
  const auto made = resize_.value_or(size);
  const std::int64_t height = made.height, width = made.width;
  return {std::move(name), type_, is_planar_ ? Shape{channels_, height, width} : Shape{height, width, channels_}};
}

ImageSize ImageDecoder::size_in(const Dataset::Field& field) const {
  const auto axis = is_planar_ ? 1U : 0U;
  return {static_cast<std::uint32_t>(field.sample_shape[axis]), static_cast<std::uint32_t>(field.sample_shape[axis + 1])};
}

/// Interleaved, as bytes.
void ImageDecoder::pixels_of(EncodedImage image, const std::string& what, ImageSize wanted, std::uint8_t* out) const {
  const auto reader = open(image, what);
  const auto size = reader->size();
  if (size == wanted) return of_image(what, [&] { reader->decode(channels_, out); });
  if (!resize_)
    throw UsageError(
        fmt::format("{} is an image of {} pixels, and the others have {} (height x width): size = {}x{} makes them alike",
                    what, in_words(size), in_words(wanted), wanted.height, wanted.width));
  const auto channels = static_cast<std::size_t>(channels_);
  const auto pixels = std::make_unique_for_overwrite<std::uint8_t[]>(size.pixels() * channels);
  of_image(what, [&] { reader->decode(channels_, pixels.get()); });
  const Extent extent{size.height, size.width, channels};
  const auto box = crops_ ? middle_of(extent, wanted.height, wanted.width) : whole(extent);
  resample({pixels.get(), extent.values()}, extent, box, wanted.height, wanted.width, out);
}

void ImageDecoder::decode(EncodedImage image, const std::string& what, const Dataset::Field& field, std::byte* out) const {
  const auto wanted = size_in(field);
  const auto channels = static_cast<std::size_t>(channels_), values = wanted.pixels() * channels;
  const bool turns = is_planar_ && channels > 1, divides = type_ == DType::f32;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(out);
  if (!turns && !divides) return pixels_of(image, what, wanted, bytes);
  const auto pixels = std::make_unique_for_overwrite<std::uint8_t[]>(values);
  pixels_of(image, what, wanted, pixels.get());
  if (!divides) return planes_of(pixels.get(), wanted.pixels(), channels, bytes);
  if (!turns) return parts_of_one(pixels.get(), values, out);
  const auto planes = std::make_unique_for_overwrite<std::uint8_t[]>(values);
  planes_of(pixels.get(), wanted.pixels(), channels, planes.get());
  parts_of_one(planes.get(), values, out);
}

}  // namespace trainrt::data
