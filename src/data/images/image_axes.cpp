#include "data/images/image_axes.hpp"

#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"

namespace trainrt::data {

namespace {

/// Returns whether the last axis of an image with three axes contains the channels.
bool are_interleaved(const Shape& shape) {
  constexpr std::int64_t max_channels = 4;
  return shape[2] <= max_channels && shape[0] > max_channels;
}

template <class T>
void resample_planes(const ImageAxes& axes, std::span<const std::byte> image, const Box& box, ImageSize size,
                     std::byte* to) {
  const Extent extent{axes.height, axes.width, axes.channels};
  for (std::size_t plane = 0; plane < axes.planes; ++plane)
    resample({reinterpret_cast<const T*>(image.data()) + plane * extent.values(), extent.values()}, extent, box,
             size.height, size.width, reinterpret_cast<T*>(to) + plane * size.pixels() * extent.channels);
}

}  // namespace

ImageAxes image_axes(const Dataset::Field& field) {
  const auto& shape = field.sample_shape;
  if (field.varies || shape.size() < 2 || shape.size() > 3 || element_count(shape) == 0)
    throw UsageError(fmt::format(
        "{} is not an image: its samples have the shape {}; "
        "valid are [height, width], [channels, height, width] and [height, width, channels], with at least one pixel",
        field.name, field.varies ? "[varies]" : to_string(shape)));
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
  if (shape.size() == 2) return {1, extent(0), extent(1), 1, field.dtype};
  if (are_interleaved(shape)) return {1, extent(0), extent(1), extent(2), field.dtype};
  return {extent(0), extent(1), extent(2), 1, field.dtype};
}

Dataset::Field with_size(const Dataset::Field& field, ImageSize size) {
  const auto axes = image_axes(field);
  auto resized = field;
  auto& shape = resized.sample_shape;
  const std::size_t height_axis = shape.size() == 3 && !are_interleaved(shape) ? 1 : 0;
  shape[height_axis] = size.height;
  shape[height_axis + 1] = size.width;
  if (const auto inferred = image_axes(resized); inferred.planes != axes.planes || inferred.channels != axes.channels)
    throw UsageError(
        fmt::format("{} would have the shape {}, in which channels and rows cannot be distinguished; "
                    "choose a height and width of more than 4",
                    field.name, to_string(shape)));
  return resized;
}

std::optional<ImageSize> parse_size(std::string_view text) {
  const auto cross = text.find('x');
  const auto height = parse_integer(text.substr(0, cross));
  const auto width = cross == text.npos ? height : parse_integer(text.substr(cross + 1));
  const auto is_valid = [](const auto& extent) { return extent && *extent >= 1 && *extent <= max_image_extent; };
  if (!is_valid(height) || !is_valid(width)) return std::nullopt;
  return ImageSize{static_cast<std::uint32_t>(*height), static_cast<std::uint32_t>(*width)};
}

void require_u8_or_f32(const Dataset::Field& field) {
  if (field.dtype == DType::u8 || field.dtype == DType::f32) return;
  throw UsageError(
      fmt::format("{} has type {}; only images of u8 and f32 can be changed. Convert the field with cast = {}: f32",
                  field.name, name_of(field.dtype), field.name));
}

void resample_image(const ImageAxes& axes, std::span<const std::byte> image, const Box& box, ImageSize size,
                    std::byte* to) {
  if (axes.dtype == DType::u8) return resample_planes<std::uint8_t>(axes, image, box, size, to);
  resample_planes<float>(axes, image, box, size, to);
}

void crop_image(const ImageAxes& axes, std::span<const std::byte> image, std::size_t top, std::size_t left, ImageSize size,
                std::byte* to) {
  const auto row = size.width * axes.pixel_bytes();
  for (std::size_t plane = 0; plane < axes.planes; ++plane)
    for (std::size_t y = 0; y < size.height; ++y, to += row)
      std::memcpy(to, image.data() + ((plane * axes.height + top + y) * axes.width + left) * axes.pixel_bytes(), row);
}

}  // namespace trainrt::data
