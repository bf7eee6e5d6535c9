#include "data/augmentation.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/field_wishes.hpp"

namespace trainrt::data {

std::vector<OptionSpec> augmentation_options() {
  std::vector<OptionSpec> options;
  for (const auto* augmentation : augmentation_table())
    options.push_back({.key = std::string(augmentation->name),
                       .default_value = "",
                       .help = std::string(augmentation->help),
                       .form = fmt::format("FIELD: {}, and so on for other fields", augmentation->arguments)});
  return options;
}

SampleMaps augmented(std::vector<Dataset::Field> fields, const Options& options) {
  SampleMaps maps(std::move(fields));
  for (const auto* augmentation : augmentation_table()) try {
      for (const auto& wish : field_wishes(options.text(augmentation->name), augmentation->arguments)) {
        const auto at = find_field(maps.fields(), wish.field);
        maps.add(at, augmentation->name, augmentation->make(maps.fields()[at], wish.arguments));
      }
    } catch (const UsageError& error) {
      throw UsageError(
          fmt::format("{}: {}: {}", options.find(augmentation->name)->origin, augmentation->name, error.what()));
    }
  return maps;
}

ImageAxes image_axes(const Dataset::Field& field) {
  const auto& shape = field.sample_shape;
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
  const auto bytes = size_of(field.dtype);
  constexpr std::int64_t most_channels = 4;
  if (field.varies || shape.size() < 2 || shape.size() > 3)
    throw UsageError(fmt::format(
        "{} is no image: its samples have the shape {}, and not [height, width] or one with channels before or behind",
        field.name, field.varies ? "[varies]" : to_string(shape)));
  if (shape.size() == 2) return {1, extent(0), extent(1), bytes};
  if (shape[2] <= most_channels && shape[0] > most_channels) return {1, extent(0), extent(1), extent(2) * bytes};
  return {extent(0), extent(1), extent(2), bytes};
}

}  // namespace trainrt::data
