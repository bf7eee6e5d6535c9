#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/augmentation.hpp"

namespace trainrt::data {

namespace {

/// A rectangle of zeros, as torchvision's RandomErasing draws it (Zhong et al., "Random Erasing Data Augmentation", AAAI
/// 2020).
class Erased final : public SampleMap {
 public:
  Erased(const Dataset::Field& field, double probability, double least, double most)
      : field_(field), axes_(image_axes(field)), probability_(probability), least_(least), most_(most) {}

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const override {
    std::memcpy(to.data(), from.data(), from.size());
    if (random.uniform() >= probability_) return;
    const auto area = static_cast<double>(axes_.height) * static_cast<double>(axes_.width);
    for (int attempt = 0; attempt < 10; ++attempt) {
      const auto part = area * (least_ + (most_ - least_) * random.uniform());
      const auto ratio = std::exp(std::log(widest) * (2 * random.uniform() - 1));
      const auto height = static_cast<std::size_t>(std::lround(std::sqrt(part * ratio)));
      const auto width = static_cast<std::size_t>(std::lround(std::sqrt(part / ratio)));
      if (height == 0 || width == 0 || height >= axes_.height || width >= axes_.width) continue;
      const auto top = random.below(axes_.height - height + 1), left = random.below(axes_.width - width + 1);
      return erase(to.data(), top, left, height, width);
    }
  }

 private:
  static constexpr double widest = 10.0 / 3;

  void erase(std::byte* image, std::size_t top, std::size_t left, std::size_t height, std::size_t width) const {
    for (std::size_t plane = 0; plane < axes_.planes; ++plane)
      for (std::size_t y = top; y < top + height; ++y)
        std::memset(image + ((plane * axes_.height + y) * axes_.width + left) * axes_.pixel_bytes, 0,
                    width * axes_.pixel_bytes);
  }

  Dataset::Field field_;
  ImageAxes axes_;
  double probability_, least_, most_;
};

std::unique_ptr<SampleMap> make_erased(const Dataset::Field& field, std::span<const std::string> arguments) {
  constexpr double usual_least = 0.02, usual_most = 0.33;
  const auto probability = arguments.empty() ? std::nullopt : parse_real(arguments[0]);
  const auto least = arguments.size() == 3 ? parse_real(arguments[1]) : usual_least;
  const auto most = arguments.size() == 3 ? parse_real(arguments[2]) : usual_most;
  const bool is_good =
      probability && *probability > 0 && *probability <= 1 && least && most && *least > 0 && *least <= *most && *most <= 1;
  if (!is_good || (arguments.size() != 1 && arguments.size() != 3))
    throw UsageError(
        fmt::format("{} needs a probability up to 1, and may have the least and the most share of the area: 0.5 0.02 0.33",
                    field.name));
  return std::make_unique<Erased>(field, *probability, *least, *most);
}

}  // namespace

namespace plugins {

extern const Augmentation random_erasing{.name = "random_erasing",
                                         .help =
                                             "sets a rectangle of some images to zero, from LEAST to MOST (0.02 to 0.33) "
                                             "of their area, with proportions from 3:10 to 10:3; "
                                             "after all other random changes",
                                         .arguments = "PROBABILITY [LEAST MOST]",
                                         .make = make_erased,
                                         .order = 2};

}  // namespace plugins

}  // namespace trainrt::data
