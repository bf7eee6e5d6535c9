#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/augmentation.hpp"

namespace trainrt::data {

namespace {

/// Half of the samples are mirrored.
class Flipped final : public SampleMap {
 public:
  Flipped(const Dataset::Field& field, bool turns_rows)
      : field_(field), axes_(image_axes(field)), turns_rows_(turns_rows) {}

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const override {
    if (random.below(2) == 0) {
      std::memcpy(to.data(), from.data(), from.size());
      return;
    }
    const auto row_bytes = axes_.width * axes_.pixel_bytes;
    for (std::size_t row = 0; row < axes_.planes * axes_.height; ++row) {
      const auto in_plane = row % axes_.height;
      const auto target = turns_rows_ ? row - in_plane + (axes_.height - 1 - in_plane) : row;
      copy_row(from.data() + row * row_bytes, to.data() + target * row_bytes);
    }
  }

 private:
  void copy_row(const std::byte* from, std::byte* to) const {
    const auto bytes = axes_.pixel_bytes;
    if (turns_rows_) {
      std::memcpy(to, from, axes_.width * bytes);
      return;
    }
    for (std::size_t x = 0; x < axes_.width; ++x) std::memcpy(to + (axes_.width - 1 - x) * bytes, from + x * bytes, bytes);
  }

  Dataset::Field field_;
  ImageAxes axes_;
  bool turns_rows_;
};

std::unique_ptr<SampleMap> make_flipped(const Dataset::Field& field, std::span<const std::string> arguments) {
  const bool known = arguments.size() == 1 && (arguments[0] == "horizontal" || arguments[0] == "vertical");
  if (!known) throw UsageError(fmt::format("{} needs horizontal or vertical", field.name));
  return std::make_unique<Flipped>(field, arguments[0] == "vertical");
}

}  // namespace

namespace plugins {

extern const Augmentation random_flip{
    .name = "random_flip",
    .help =
        "mirrors half of the images, other ones in each epoch: horizontal changes left and right, vertical top and "
        "bottom",
    .arguments = "horizontal | vertical",
    .make = make_flipped};

}  // namespace plugins

}  // namespace trainrt::data
