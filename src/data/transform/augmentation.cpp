#include "data/transform/augmentation.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/by_order.hpp"
#include "data/text/field_specs.hpp"

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
  for (const auto* augmentation : by_order(augmentation_table())) try {
      for (const auto& wish : field_specs(options.text(augmentation->name), augmentation->arguments)) {
        const auto at = find_field(maps.fields(), wish.field);
        maps.add(at, augmentation->name, augmentation->make(maps.fields()[at], wish.arguments));
      }
    } catch (const UsageError& error) {
      throw UsageError(
          fmt::format("{}: {}: {}", options.find(augmentation->name)->origin, augmentation->name, error.what()));
    }
  return maps;
}

}  // namespace trainrt::data
