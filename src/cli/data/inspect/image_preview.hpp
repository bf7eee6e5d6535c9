#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::cli::datasets {

/// Layout of an image in the bytes of a sample: [rows, columns], with a last or first axis of 1 or 3 channels.
struct ImageShape {
  std::size_t rows = 0, columns = 0, channels = 1;
  bool channels_first = false;
};

/// Returns the layout of a field's samples, or nullopt if they are not images: u8 with 4 to 8192 rows and columns.
std::optional<ImageShape> image_shape(const Dataset::Field& field);

/// Draws an image as lines of at most `width` characters. A wider image is reduced. With `colors`, each character shows
/// two pixels, one above the other (U+2580 with 24-bit colors of ECMA-48). Otherwise ASCII characters show the
/// brightness. Pure function.
std::vector<std::string> preview_lines(std::span<const std::byte> sample, const ImageShape& shape, std::size_t width,
                                       bool colors);

}  // namespace trainrt::cli::datasets
