#include "data/images/image_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/images/image_axes.hpp"
#include "data/images/resample.hpp"

namespace trainrt::data {

namespace {

/// Advice at the end of a message about images of different sizes.
constexpr std::string_view resize_advice =
    "Choose one size for all with the key 'size', such as size = 224x224 in a config, or --size=224x224 for `trainrt data`";

/// Returns "480 x 640", height before width.
std::string to_text(ImageSize size) { return fmt::format("{} x {}", size.height, size.width); }

/// Calls `call` and returns its result. If `call` throws UsageError, puts the name of the image in front of the message.
template <class Call>
auto naming_image(const std::string& what, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(fmt::format("{} {}", what, error.what()));
}

/// Converts each byte of interleaved pixels by `value_of`, and writes the results to `out`, one plane after another.
/// With `planes` = 1, the values keep their order.
template <class ValueOf>
void write_planes(const std::uint8_t* bytes, std::size_t count, std::size_t planes, std::byte* out,
                  const ValueOf& value_of) {
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (std::size_t i = plane; i < count; i += planes) {
      const auto value = value_of(bytes[i]);
      std::memcpy(out, &value, sizeof value);
      out += sizeof value;
    }
}

/// Returns a table with value / 255 for each byte value.
const std::array<float, 256>& fractions() {
  static const auto table = [] {
    std::array<float, 256> values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 255.0F;
    return values;
  }();
  return table;
}

}  // namespace

std::vector<OptionSpec> image_options() {
  return {{.key = "size",
           .default_value = "",
           .help = "height and width to which images are resized, "
                   "by bilinear interpolation with antialiasing, as in Pillow; "
                   "if size is not set, all images must have the same size",
           .form = "HEIGHTxWIDTH, such as 224x224, or one number for both",
           .fits = [](std::string_view text) { return text.empty() || parse_size(text).has_value(); }},
          {.key = "resize_mode",
           .default_value = "stretch",
           .help = "how an image is resized if its aspect ratio differs from that of `size`: "
                   "stretch changes the aspect ratio; "
                   "crop resizes the largest centered part that has the aspect ratio of `size`",
           .choices = {"stretch", "crop"}},
          {.key = "channels",
           .default_value = "3",
           .help = "channels of a pixel: 1 (gray), 3 (RGB), 4 (RGBA)",
           .choices = {"1", "3", "4"}},
          {.key = "layout",
           .default_value = "interleaved",
           .help = "shape of an image: interleaved [height, width, channels], or planar [channels, height, width]",
           .choices = {"interleaved", "planar"}},
          {.key = "type",
           .default_value = "u8",
           .help = "type of the values: u8, or f32 from 0 to 1",
           .choices = {"u8", "f32"}},
          {.key = "decode",
           .type = OptionType::boolean,
           .default_value = "true",
           .help = "true: decode images; false: the field contains the encoded images, as bytes of varying length"},
          {.key = "max_pixels",
           .type = OptionType::integer,
           .default_value = "100000000",
           .help = "maximum number of pixels of an image; an image with more pixels is an error and is not decoded",
           .range = {.least = 1, .most = 0x1p32}},
          {.key = "max_file_bytes",
           .type = OptionType::bytes,
           .default_value = "64 MiB",
           .help = "maximum size of an image file or of an entry of an archive; a larger file or entry is an error"}};
}

ImageDecoder::ImageDecoder(const Options& options)
    : crops_(options.text("resize_mode") == "crop"),
      is_planar_(options.text("layout") == "planar"),
      decodes_(options.boolean("decode")),
      type_(options.text("type") == "f32" ? DType::f32 : DType::u8),
      channels_(static_cast<int>(parse_integer(options.text("channels")).value_or(3))),
      max_pixels_(static_cast<std::uint64_t>(options.integer("max_pixels"))),
      max_file_bytes_(options.bytes("max_file_bytes")) {
  if (const auto text = options.text("size"); !text.empty()) resize_ = parse_size(text);
}

std::unique_ptr<ImageReader> ImageDecoder::open(EncodedImage image, const std::string& what) const {
  return naming_image(what, [&] {
    auto reader = open_image(image);
    const auto size = reader->size();
    if (size.pixels() == 0) throw UsageError(fmt::format("has no pixels: its size is {}", to_text(size)));
    if (size.pixels() > max_pixels_)
      throw UsageError(fmt::format("has {} pixels, more than max_pixels = {}", to_text(size), max_pixels_));
    return reader;
  });
}

void ImageDecoder::require_size(const std::string& what, ImageSize size, ImageSize expected) const {
  if (resizes() || size == expected) return;
  throw UsageError(fmt::format("{} has {} pixels, but other images have {} (height x width). {}", what, to_text(size),
                               to_text(expected), resize_advice));
}

Dataset::Field ImageDecoder::field(std::string name, ImageSize size) const {
  if (!decodes_) return {std::move(name), DType::u8, {}, true};
  const auto result = resize_.value_or(size);
  const std::int64_t height = result.height, width = result.width;
  return {std::move(name), type_, is_planar_ ? Shape{channels_, height, width} : Shape{height, width, channels_}};
}

Dataset::Field ImageDecoder::field_of_any_size(std::string name) const {
  auto made = field(std::move(name), {});
  made.varies = true;
  return made;
}

std::vector<std::byte> ImageDecoder::decode_of_any_size(EncodedImage image, const std::string& what) const {
  const auto size = size_of(image, what);
  const std::uint32_t extents[] = {size.height, size.width};
  const auto own = field("image", size);
  std::vector<std::byte> sample(sizeof extents +
                                static_cast<std::size_t>(element_count(own.sample_shape)) * trainrt::size_of(type_));
  std::memcpy(sample.data(), extents, sizeof extents);
  decode(image, what, own, sample.data() + sizeof extents);
  return sample;
}

/// Writes the pixels of an image to `out`, with interleaved channels. If the size of the image is not `wanted`, resizes
/// the image first.
void ImageDecoder::decode_pixels(EncodedImage image, const std::string& what, ImageSize wanted, std::uint8_t* out) const {
  const auto reader = open(image, what);
  const auto size = reader->size();
  require_size(what, size, wanted);
  if (size == wanted) return naming_image(what, [&] { reader->decode(channels_, out); });
  const Extent extent{size.height, size.width, static_cast<std::size_t>(channels_)};
  const auto pixels = std::make_unique_for_overwrite<std::uint8_t[]>(extent.values());
  naming_image(what, [&] { reader->decode(channels_, pixels.get()); });
  const auto box = crops_ ? centered_box(extent, wanted.height, wanted.width) : full_box(extent);
  resample({pixels.get(), extent.values()}, extent, box, wanted.height, wanted.width, out);
}

void ImageDecoder::decode(EncodedImage image, const std::string& what, const Dataset::Field& field, std::byte* out) const {
  const auto height_axis = is_planar_ ? 1U : 0U;
  const ImageSize size{static_cast<std::uint32_t>(field.sample_shape[height_axis]),
                       static_cast<std::uint32_t>(field.sample_shape[height_axis + 1])};
  const auto planes = is_planar_ ? static_cast<std::size_t>(channels_) : 1;
  if (planes == 1 && type_ == DType::u8) return decode_pixels(image, what, size, reinterpret_cast<std::uint8_t*>(out));
  const auto count = size.pixels() * static_cast<std::size_t>(channels_);
  const auto pixels = std::make_unique_for_overwrite<std::uint8_t[]>(count);
  decode_pixels(image, what, size, pixels.get());
  if (type_ == DType::u8)
    write_planes(pixels.get(), count, planes, out, [](std::uint8_t value) { return value; });
  else
    write_planes(pixels.get(), count, planes, out, [&table = fractions()](std::uint8_t value) { return table[value]; });
}

void ProbedSizes::add(const std::string& what, ImageSize size) {
  if (count_++ == 0) first_ = min_ = max_ = size;
  if (different_.empty() && !(size == first_)) different_ = fmt::format("{} with {}", what, to_text(size));
  min_ = {std::min(min_.height, size.height), std::min(min_.width, size.width)};
  max_ = {std::max(max_.height, size.height), std::max(max_.width, size.width)};
}

void ProbedSizes::require_equal() const {
  if (different_.empty()) return;
  throw UsageError(
      fmt::format("the images have different sizes, such as {} and others with {} pixels (height x width). "
                  "Of {} images, the heights are {} to {} and the widths {} to {}. {}",
                  different_, to_text(first_), count_, min_.height, max_.height, min_.width, max_.width, resize_advice));
}

}  // namespace trainrt::data
