#include "data/transform/augmentation.hpp"

#include "data/transform/field_keys.hpp"

namespace trainrt::data {

std::vector<OptionSpec> augmentation_options() { return field_keys(augmentation_table()); }

SampleMaps augmented(std::vector<Dataset::Field> fields, const Options& options) {
  SampleMaps maps(std::move(fields));
  for_each_field_key(augmentation_table(), options, [&](const auto& augmentation, const auto& name, const auto& arguments) {
    const auto field = find_fixed_field(maps.fields(), name);
    maps.add(field, augmentation.name, augmentation.make(maps.fields()[field], arguments));
  });
  return maps;
}

std::optional<AreaRange> parse_area_range(std::span<const std::string> arguments, AreaRange default_range) {
  if (arguments.empty()) return default_range;
  if (arguments.size() != 2) return std::nullopt;
  const auto min = parse_real(arguments[0]), max = parse_real(arguments[1]);
  if (!min || !max || !(*min > 0 && *min <= *max && *max <= 1)) return std::nullopt;
  return AreaRange{*min, *max};
}

}  // namespace trainrt::data
