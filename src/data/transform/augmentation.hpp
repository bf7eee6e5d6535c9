#pragma once
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

/// A plug-in that changes samples at random. Each plug-in is one file in data/transform/augmentations. Its name is a
/// key of every [data.NAME] with values of the form "FIELD: ARGUMENTS, FIELD: ARGUMENTS". Augmentations are applied
/// after all transforms, sorted by `order`, then by name.
struct Augmentation {
  std::string_view name;
  std::string_view help;
  std::string_view arguments;  ///< form of the arguments for help and messages: "PADDING"
  /// Returns the change of `field`. Throws UsageError that names the field if the arguments are invalid or do not suit
  /// the field.
  SampleMap (*make)(const Dataset::Field& field, std::span<const std::string> arguments);
  int order = 0;  ///< position among all augmentations; those that change sizes come first
};

PluginTable<Augmentation> augmentation_table();

/// Returns the keys of all augmentations.
std::vector<OptionSpec> augmentation_options();

/// Returns the random changes of `fields` that `options` request. Throws UsageError that names the key and the field if a
/// value is invalid.
SampleMaps augmented(std::vector<Dataset::Field> fields, const Options& options);

/// The valid range of the area of a random part, as a fraction of the image's area: 0 < min <= max <= 1.
struct AreaRange {
  double min = 0, max = 1;
};
/// Parses the arguments "[MIN MAX]" of an augmentation. Returns `default_range` if there are no arguments, and nullopt
/// if they are invalid.
std::optional<AreaRange> parse_area_range(std::span<const std::string> arguments, AreaRange default_range);

}  // namespace trainrt::data
