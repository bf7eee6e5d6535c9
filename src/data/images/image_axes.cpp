#include "data/images/image_axes.hpp"

#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"

namespace trainrt::data {

ImageAxes image_axes(const Dataset::Field& field) {
  const auto& shape = field.sample_shape;
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
  const auto bytes = size_of(field.dtype);
  constexpr std::int64_t most_channels = 4;
  if (field.varies || shape.size() < 2 || shape.size() > 3)
    throw UsageError(fmt::format(
        "{} is no image: its samples have the shape {}, and not [height, width] or one with channels before or behind",
        field.name, field.varies ? "[varies]" : to_string(shape)));
  if (shape.size() == 2) return {1, extent(0), extent(1), bytes};
  if (shape[2] <= most_channels && shape[0] > most_channels) return {1, extent(0), extent(1), extent(2) * bytes};
  return {extent(0), extent(1), extent(2), bytes};
}

Dataset::Field with_size(const Dataset::Field& field, ImageSize size) {
  auto made = field;
  auto& shape = made.sample_shape;
  const auto axes = image_axes(field);
  const bool is_planar = shape.size() == 3 && axes.channels_of(field.dtype) == 1 &&
                         axes.height == static_cast<std::size_t>(shape[1]) &&
                         axes.planes == static_cast<std::size_t>(shape[0]);
  shape[is_planar ? 1 : 0] = size.height;
  shape[is_planar ? 2 : 1] = size.width;
  const auto back = image_axes(made);
  if (back.planes != axes.planes || back.pixel_bytes != axes.pixel_bytes)
    throw UsageError(
        fmt::format("{} would be {}, whose channels could not be told from its rows", field.name, to_string(shape)));
  return made;
}

std::optional<ImageSize> parse_size(std::string_view text) {
  constexpr std::int64_t most = 65535;
  const auto cross = text.find('x');
  const auto height = parse_integer(text.substr(0, cross));
  const auto width = cross == text.npos ? height : parse_integer(text.substr(cross + 1));
  if (!height || !width || *height < 1 || *width < 1 || *height > most || *width > most) return std::nullopt;
  return ImageSize{static_cast<std::uint32_t>(*height), static_cast<std::uint32_t>(*width)};
}

void require_resampled(const Dataset::Field& field) {
  if (field.dtype == DType::u8 || field.dtype == DType::f32) return;
  throw UsageError(fmt::format("{} is {}; images of u8 or f32 get another size (the key cast makes them)", field.name,
                               name_of(field.dtype)));
}

namespace {

template <class T>
void resample_planes(const ImageAxes& axes, DType type, std::span<const std::byte> from, const Box& box, ImageSize size,
                     std::byte* to) {
  const Extent extent{axes.height, axes.width, axes.channels_of(type)};
  const auto* values = reinterpret_cast<const T*>(from.data());
  auto* made = reinterpret_cast<T*>(to);
  for (std::size_t plane = 0; plane < axes.planes; ++plane) {
    resample({values, extent.values()}, extent, box, size.height, size.width, made);
    values += extent.values();
    made += size.pixels() * extent.channels;
  }
}

}  // namespace

void resample_image(const Dataset::Field& field, std::span<const std::byte> from, const Box& box, ImageSize size,
                    std::byte* to) {
  const auto axes = image_axes(field);
  if (field.dtype == DType::u8) return resample_planes<std::uint8_t>(axes, field.dtype, from, box, size, to);
  resample_planes<float>(axes, field.dtype, from, box, size, to);
}

void crop_image(const Dataset::Field& field, std::span<const std::byte> from, std::size_t top, std::size_t left,
                ImageSize size, std::byte* to) {
  const auto axes = image_axes(field);
  const auto row = size.width * axes.pixel_bytes;
  for (std::size_t plane = 0; plane < axes.planes; ++plane)
    for (std::size_t y = 0; y < size.height; ++y, to += row)
      std::memcpy(to, from.data() + ((plane * axes.height + top + y) * axes.width + left) * axes.pixel_bytes, row);
}

}  // namespace trainrt::data
