#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/images/image_axes.hpp"
#include "data/transform/sample_maps.hpp"

namespace trainrt::data {

/// A plug-in: one file in data/augmentations. Its name is a key of every [data.NAME]: "FIELD: ARGUMENTS, FIELD: ARGUMENTS".
/// Augmentations come after all transforms, in the order of their places, then of their names.
struct Augmentation {
  std::string_view name;
  std::string_view help;
  std::string_view arguments;  ///< in words: "PADDING"
  /// Throws UsageError that says what is wrong with the arguments, or with a field that they do not suit.
  std::unique_ptr<SampleMap> (*make)(const Dataset::Field& field, std::span<const std::string> arguments);
  int order = 0;  ///< position among all augmentations; those that change sizes come first
};

PluginTable<Augmentation> augmentation_table();

/// The keys of all augmentations.
std::vector<OptionSpec> augmentation_options();

/// What `options` ask for. Errors name key and field.
SampleMaps augmented(std::vector<Dataset::Field> fields, const Options& options);

}  // namespace trainrt::data
