#include "data/transform/augmentation.hpp"
#include "data/transform/normalizer.hpp"

namespace trainrt::data {

namespace {

class NormalizedLast final : public SampleMap {
 public:
  explicit NormalizedLast(Normalizer normalizer) : normalizer_(std::move(normalizer)) {}
  const Dataset::Field& field() const override { return normalizer_.field(); }
  void apply(std::span<const std::byte> from, std::span<std::byte> to, Random&) const override {
    normalizer_.apply(from, to);
  }

 private:
  Normalizer normalizer_;
};

std::unique_ptr<SampleMap> make_normalized_last(const Dataset::Field& field, std::span<const std::string> arguments) {
  return std::make_unique<NormalizedLast>(Normalizer(field, arguments));
}

}  // namespace

namespace plugins {

extern const Augmentation normalize_last{
    .name = "normalize_last",
    .help = "as normalize, but behind the random changes (and before random_erasing): these get images as they are",
    .arguments = "MEAN DEVIATION",
    .make = make_normalized_last,
    .order = 1};

}  // namespace plugins

}  // namespace trainrt::data
