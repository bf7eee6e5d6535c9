#include "cli/datasets/inspect/image_preview.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace trainrt::cli::datasets {

namespace {

using Colour = std::array<unsigned, 3>;

/// A picture made smaller: each pixel is the mean of those that it covers.
class Smaller {
 public:
  Smaller(std::span<const std::byte> sample, const PictureShape& shape, std::size_t columns, std::size_t rows)
      : sample_(sample), shape_(shape), columns_(columns), rows_(rows) {}

  Colour at(std::size_t row, std::size_t column) const {
    Colour mean{};
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
    const auto place = shape_.channels_first ? (channel * shape_.rows + y) * shape_.columns + x
                                             : (y * shape_.columns + x) * shape_.channels + channel;
    return static_cast<unsigned>(sample_[place]);
  }

  std::span<const std::byte> sample_;
  PictureShape shape_;
  std::size_t columns_, rows_;
};

char character(const Colour& colour) {
  constexpr std::string_view darker_to_lighter = " .:-=+*#%@";
  const auto grey = (299 * colour[0] + 587 * colour[1] + 114 * colour[2]) / 1000;  // ITU-R BT.601
  return darker_to_lighter[grey * darker_to_lighter.size() / 256];
}

std::string two_pixels(const Colour& upper, const Colour& lower) {
  return fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m\xe2\x96\x80", upper[0], upper[1], upper[2], lower[0], lower[1],
                     lower[2]);
}

}  // namespace

std::optional<PictureShape> picture_shape(const Dataset::Field& field) {
  constexpr std::int64_t least = 4, most = 8192;
  const auto& shape = field.sample_shape;
  const auto is_picture = [&](std::int64_t rows, std::int64_t columns) {
    return rows >= least && rows <= most && columns >= least && columns <= most;
  };
  const auto made = [](std::int64_t rows, std::int64_t columns, std::int64_t channels, bool first) {
    return PictureShape{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                        static_cast<std::size_t>(channels), first};
  };
  if (field.varies || field.dtype != DType::u8) return std::nullopt;
  if (shape.size() == 2 && is_picture(shape[0], shape[1])) return made(shape[0], shape[1], 1, false);
  if (shape.size() != 3) return std::nullopt;
  if ((shape[2] == 1 || shape[2] == 3) && is_picture(shape[0], shape[1])) return made(shape[0], shape[1], shape[2], false);
  if ((shape[0] == 1 || shape[0] == 3) && is_picture(shape[1], shape[2])) return made(shape[1], shape[2], shape[0], true);
  return std::nullopt;
}

std::vector<std::string> picture_lines(std::span<const std::byte> sample, const PictureShape& shape, std::size_t width,
                                       bool colours) {
  const auto columns = std::min(shape.columns, std::max<std::size_t>(width, 1));
  const auto lines = std::max<std::size_t>(1, shape.rows * columns / shape.columns / 2);
  const Smaller smaller(sample, shape, columns, colours ? 2 * lines : lines);
  std::vector<std::string> made;
  for (std::size_t line = 0; line < lines; ++line) {
    auto& text = made.emplace_back();
    for (std::size_t column = 0; column < columns; ++column)
      if (colours)
        text += two_pixels(smaller.at(2 * line, column), smaller.at(2 * line + 1, column));
      else
        text += character(smaller.at(line, column));
    if (colours) text += "\x1b[0m";
  }
  return made;
}

}  // namespace trainrt::cli::datasets
