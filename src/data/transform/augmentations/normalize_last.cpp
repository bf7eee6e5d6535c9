#include "data/transform/augmentation.hpp"
#include "data/transform/standardize.hpp"

namespace trainrt::data {

namespace {

SampleMap make_normalized_last(const Dataset::Field& field, std::span<const std::string> arguments) {
  auto map = standardized(field, arguments);
  return {map.field, [apply = std::move(map.apply)](std::span<const std::byte> from, std::span<std::byte> to, Random&) {
            apply(from, to);
          }};
}

}  // namespace

namespace plugins {

extern const Augmentation normalize_last{.name = "normalize_last",
                                         .help =
                                             "like normalize, but applied after all random changes except random_erasing. "
                                             "These changes therefore receive images that are not normalized",
                                         .arguments = "MEAN DEVIATION",
                                         .make = make_normalized_last,
                                         .order = 1};

}  // namespace plugins

}  // namespace trainrt::data
