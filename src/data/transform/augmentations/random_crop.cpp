#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/augmentation.hpp"

namespace trainrt::data {

namespace {

/// The image moved by up to `padding` pixels each way: what torchvision's RandomCrop(size, padding) leaves of it.
class Cropped final : public SampleMap {
 public:
  Cropped(const Dataset::Field& field, std::int64_t padding) : field_(field), axes_(image_axes(field)), padding_(padding) {}

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const override {
    const auto down = drawn(random), right = drawn(random);
    const auto width = static_cast<std::int64_t>(axes_.width), height = static_cast<std::int64_t>(axes_.height);
    const auto bytes = static_cast<std::int64_t>(axes_.pixel_bytes);
    std::memset(to.data(), 0, to.size());
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(axes_.planes) * height; ++row) {
      const auto y = row % height + down;  // in the image as it was
      if (y < 0 || y >= height) continue;
      const auto first = std::max<std::int64_t>(0, -right), end = std::min(width, width - right);
      if (first >= end) continue;
      std::memcpy(to.data() + (row * width + first) * bytes, from.data() + ((row + down) * width + first + right) * bytes,
                  static_cast<std::size_t>((end - first) * bytes));
    }
  }

 private:
  std::int64_t drawn(Random& random) const {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * padding_ + 1))) - padding_;
  }

  Dataset::Field field_;
  ImageAxes axes_;
  std::int64_t padding_;
};

std::unique_ptr<SampleMap> make_cropped(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto axes = image_axes(field);
  const auto most = static_cast<double>(std::min(axes.width, axes.height));
  const auto padding = arguments.size() == 1 ? parse_real(arguments[0]) : std::nullopt;
  if (!padding || *padding < 1 || *padding > most || *padding != static_cast<double>(static_cast<std::int64_t>(*padding)))
    throw UsageError(fmt::format("{} needs a whole number of pixels, from 1 to {}", field.name, most));
  return std::make_unique<Cropped>(field, static_cast<std::int64_t>(*padding));
}

}  // namespace

namespace plugins {

extern const Augmentation random_crop{
    .name = "random_crop",
    .help =
        "puts PADDING rows and columns of zeros around each image and cuts its size out again at a random place, "
        "another one in each epoch",
    .arguments = "PADDING",
    .make = make_cropped};

}  // namespace plugins

}  // namespace trainrt::data
