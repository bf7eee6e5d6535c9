#include "data/transform/normalizer.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

class Normalized final : public FieldMap {
 public:
  explicit Normalized(Normalizer normalizer) : normalizer_(std::move(normalizer)) {}
  const Dataset::Field& field() const override { return normalizer_.field(); }
  void apply(std::span<const std::byte> from, std::span<std::byte> to) const override { normalizer_.apply(from, to); }

 private:
  Normalizer normalizer_;
};

std::unique_ptr<FieldMap> make_normalized(const Dataset::Field& field, std::span<const std::string> arguments) {
  return std::make_unique<Normalized>(Normalizer(field, arguments));
}

}  // namespace

namespace plugins {

extern const Transform normalize{.name = "normalize",
                                 .help =
                                     "makes a field f32 with mean 0 and deviation 1: less MEAN, divided by DEVIATION; "
                                     "bytes are divided by 255 first. Of images also "
                                     "the means of their channels, then the deviations",
                                 .arguments = "MEAN DEVIATION",
                                 .make = make_normalized};

}  // namespace plugins

}  // namespace trainrt::data
