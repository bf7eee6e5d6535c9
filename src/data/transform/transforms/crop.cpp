#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/images/image_axes.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// The middle of each image: as torchvision's CenterCrop, which rounds halves to even places.
class Middle final : public FieldMap {
 public:
  Middle(const Dataset::Field& from, ImageSize size) : from_(from), field_(with_size(from, size)), size_(size) {
    const auto axes = image_axes(from);
    top_ = half_of(axes.height - size.height);
    left_ = half_of(axes.width - size.width);
  }

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to) const override {
    const auto before = sample_bytes(from_), after = sample_bytes(field_);
    for (std::size_t i = 0; i * after < to.size(); ++i)
      crop_image(from_, from.subspan(i * before, before), top_, left_, size_, to.data() + i * after);
  }

 private:
  static std::size_t half_of(std::size_t margin) { return margin / 2 + (margin % 4 == 3 ? 1 : 0); }

  Dataset::Field from_, field_;
  ImageSize size_;
  std::size_t top_ = 0, left_ = 0;
};

std::unique_ptr<FieldMap> make_middle(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto axes = image_axes(field);
  const auto size = arguments.size() == 1 ? parse_size(arguments[0]) : std::nullopt;
  if (!size || size->height > axes.height || size->width > axes.width)
    throw UsageError(
        fmt::format("{} needs a size, HEIGHTxWIDTH, up to its own, {}x{}", field.name, axes.height, axes.width));
  return std::make_unique<Middle>(field, *size);
}

}  // namespace

namespace plugins {

extern const Transform crop{.name = "crop",
                            .help = "cuts the middle out of images; after resize, before all others",
                            .arguments = "HEIGHTxWIDTH",
                            .make = make_middle,
                            .order = -1};

}  // namespace plugins

}  // namespace trainrt::data
