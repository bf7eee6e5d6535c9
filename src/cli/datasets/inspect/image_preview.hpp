#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::cli::datasets {

/// How the bytes of a sample are a picture: [rows, columns], with a last or a first axis of 1 or 3 channels.
struct PictureShape {
  std::size_t rows = 0, columns = 0, channels = 1;
  bool channels_first = false;
};

/// Nothing if samples of the field are no pictures: of u8, 4 to 8192 rows and columns.
std::optional<PictureShape> picture_shape(const Dataset::Field& field);

/// The picture in lines of at most `width` characters, all as wide: smaller if it is wider. With colours two pixels a
/// character, upper and lower (U+2580, ECMA-48's 24-bit colours); else by ASCII characters, darker to lighter. Pure.
std::vector<std::string> picture_lines(std::span<const std::byte> sample, const PictureShape& shape, std::size_t width,
                                       bool colours);

}  // namespace trainrt::cli::datasets
