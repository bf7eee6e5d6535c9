#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/images/image_axes.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

class Resized final : public FieldMap {
 public:
  Resized(const Dataset::Field& from, ImageSize size) : from_(from), field_(with_size(from, size)), size_(size) {}

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to) const override {
    const auto axes = image_axes(from_);
    const auto box = whole({axes.height, axes.width});
    const auto before = sample_bytes(from_), after = sample_bytes(field_);
    for (std::size_t i = 0; i * after < to.size(); ++i)
      resample_image(from_, from.subspan(i * before, before), box, size_, to.data() + i * after);
  }

 private:
  Dataset::Field from_, field_;
  ImageSize size_;
};

std::unique_ptr<FieldMap> make_resized(const Dataset::Field& field, std::span<const std::string> arguments) {
  const auto size = arguments.size() == 1 ? parse_size(arguments[0]) : std::nullopt;
  if (!size) throw UsageError(fmt::format("{} needs a size, HEIGHTxWIDTH", field.name));
  require_resampled(field);
  return std::make_unique<Resized>(field, *size);
}

}  // namespace

namespace plugins {

extern const Transform resize{
    .name = "resize",
    .help = "brings images of u8 or f32 to another size, bilinear with antialias; before all others",
    .arguments = "HEIGHTxWIDTH",
    .make = make_resized,
    .order = -2};

}  // namespace plugins

}  // namespace trainrt::data
