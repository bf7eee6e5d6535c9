#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/augmentation.hpp"

namespace trainrt::data {

namespace {

/// A part of the image at another size, as torchvision's RandomResizedCrop draws it: its share of the area is uniform, the
/// logarithm of its proportions too; after ten parts that do not fit the largest in the middle whose proportions do.
class ResizedCrop final : public SampleMap {
 public:
  ResizedCrop(const Dataset::Field& from, ImageSize size, double least, double most)
      : from_(from), field_(with_size(from, size)), axes_(image_axes(from)), size_(size), least_(least), most_(most) {}

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const override {
    resample_image(from_, from, drawn(random), size_, to.data());
  }

 private:
  static constexpr double narrowest = 3.0 / 4, widest = 4.0 / 3;

  static Box box_at(std::size_t top, std::size_t left, std::size_t height, std::size_t width) {
    return {static_cast<float>(top), static_cast<float>(left), static_cast<float>(top + height),
            static_cast<float>(left + width)};
  }

  Box drawn(Random& random) const {
    const auto area = static_cast<double>(axes_.height) * static_cast<double>(axes_.width);
    for (int attempt = 0; attempt < 10; ++attempt) {
      const auto part = area * (least_ + (most_ - least_) * random.uniform());
      const auto ratio = std::exp(std::log(narrowest) + (std::log(widest) - std::log(narrowest)) * random.uniform());
      const auto width = static_cast<std::size_t>(std::lround(std::sqrt(part * ratio)));
      const auto height = static_cast<std::size_t>(std::lround(std::sqrt(part / ratio)));
      if (width == 0 || height == 0 || width > axes_.width || height > axes_.height) continue;
      const auto top = random.below(axes_.height - height + 1), left = random.below(axes_.width - width + 1);
      return box_at(top, left, height, width);
    }
    return middle();
  }

  Box middle() const {
    auto height = axes_.height, width = axes_.width;
    const auto ratio = static_cast<double>(width) / static_cast<double>(height);
    if (ratio < narrowest) height = static_cast<std::size_t>(std::lround(static_cast<double>(width) / narrowest));
    if (ratio > widest) width = static_cast<std::size_t>(std::lround(static_cast<double>(height) * widest));
    return box_at((axes_.height - height) / 2, (axes_.width - width) / 2, height, width);
  }

  Dataset::Field from_, field_;
  ImageAxes axes_;
  ImageSize size_;
  double least_, most_;
};

std::unique_ptr<SampleMap> make_resized_crop(const Dataset::Field& field, std::span<const std::string> arguments) {
  constexpr double usual_least = 0.08;
  const auto size = arguments.empty() ? std::nullopt : parse_size(arguments[0]);
  const auto least = arguments.size() == 3 ? parse_real(arguments[1]) : usual_least;
  const auto most = arguments.size() == 3 ? parse_real(arguments[2]) : 1.0;
  const bool is_good = size && least && most && *least > 0 && *least <= *most && *most <= 1;
  if (!is_good || (arguments.size() != 1 && arguments.size() != 3))
    throw UsageError(
        fmt::format("{} needs a size, HEIGHTxWIDTH, and may have the least and the most share of the area: 224x224 0.08 1",
                    field.name));
  require_resampled(field);
  return std::make_unique<ResizedCrop>(field, *size, *least, *most);
}

}  // namespace

namespace plugins {

extern const Augmentation random_resized_crop{
    .name = "random_resized_crop",
    .help =
        "cuts a part out of each image, from LEAST to MOST (0.08 to 1) of its area, with proportions from 3:4 to 4:3, and "
        "brings it to "
        "a size, bilinear with antialias; another part in each epoch; before all other random changes",
    .arguments = "HEIGHTxWIDTH [LEAST MOST]",
    .make = make_resized_crop,
    .order = -1};

}  // namespace plugins

}  // namespace trainrt::data
