#include "cli/data/inspect/image_preview.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace trainrt::cli::datasets {

namespace {

using Color = std::array<unsigned, 3>;

/// An image reduced to `rows` and `columns`: each pixel is the mean of the pixels that it covers.
class ReducedImage {
 public:
  ReducedImage(std::span<const std::byte> sample, const ImageShape& shape, std::size_t columns, std::size_t rows)
      : sample_(sample), shape_(shape), columns_(columns), rows_(rows) {}

  Color at(std::size_t row, std::size_t column) const {
    Color mean{};
    for (std::size_t channel = 0; channel < mean.size(); ++channel)
      mean[channel] = channel < shape_.channels ? mean_of(row, column, channel) : mean[0];
    return mean;
  }

 private:
  unsigned mean_of(std::size_t row, std::size_t column, std::size_t channel) const {
    const auto top = row * shape_.rows / rows_, left = column * shape_.columns / columns_;
    const auto bottom = std::max(top + 1, (row + 1) * shape_.rows / rows_);
    const auto right = std::max(left + 1, (column + 1) * shape_.columns / columns_);
    std::uint64_t sum = 0;
    for (auto y = top; y < bottom; ++y)
      for (auto x = left; x < right; ++x) sum += value(y, x, channel);
    return static_cast<unsigned>(sum / ((bottom - top) * (right - left)));
  }

  unsigned value(std::size_t y, std::size_t x, std::size_t channel) const {
    return static_cast<unsigned>(sample_[shape_.channels_first ? (channel * shape_.rows + y) * shape_.columns + x
                                                               : (y * shape_.columns + x) * shape_.channels + channel]);
  }

  std::span<const std::byte> sample_;
  ImageShape shape_;
  std::size_t columns_, rows_;
};

char brightness_character(const Color& color) {
  constexpr std::string_view dark_to_bright = " .:-=+*#%@";
  const auto gray = (299 * color[0] + 587 * color[1] + 114 * color[2]) / 1000;  // ITU-R BT.601
  return dark_to_bright[gray * dark_to_bright.size() / 256];
}

std::string two_pixels(const Color& upper, const Color& lower) {
  return fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m\xe2\x96\x80", upper[0], upper[1], upper[2], lower[0], lower[1],
                     lower[2]);
}

}  // namespace

std::optional<ImageShape> image_shape(const Dataset::Field& field) {
  const auto& shape = field.sample_shape;
  const auto layout = [](std::int64_t rows, std::int64_t columns, std::int64_t channels,
                         bool channels_first) -> std::optional<ImageShape> {
    constexpr std::int64_t min = 4, max = 8192;
    if (rows < min || rows > max || columns < min || columns > max || (channels != 1 && channels != 3)) return std::nullopt;
    return ImageShape{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), static_cast<std::size_t>(channels),
                      channels_first};
  };
  if (field.varies || field.dtype != DType::u8) return std::nullopt;
  if (shape.size() == 2) return layout(shape[0], shape[1], 1, false);
  if (shape.size() != 3) return std::nullopt;
  const auto channels_last = layout(shape[0], shape[1], shape[2], false);
  return channels_last ? channels_last : layout(shape[1], shape[2], shape[0], true);
}

std::vector<std::string> preview_lines(std::span<const std::byte> sample, const ImageShape& shape, std::size_t width,
                                       bool colors) {
  const auto columns = std::min(shape.columns, std::max<std::size_t>(width, 1));
  const auto lines = std::max<std::size_t>(1, shape.rows * columns / shape.columns / 2);
  const ReducedImage image(sample, shape, columns, colors ? 2 * lines : lines);
  std::vector<std::string> texts(lines);
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t column = 0; column < columns; ++column)
      if (colors)
        texts[line] += two_pixels(image.at(2 * line, column), image.at(2 * line + 1, column));
      else
        texts[line] += brightness_character(image.at(line, column));
    if (colors) texts[line] += "\x1b[0m";
  }
  return texts;
}

}  // namespace trainrt::cli::datasets
