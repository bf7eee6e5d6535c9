#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/sample_maps.hpp"

namespace trainrt::data {

/// A plug-in: one file in data/augmentations. Its name is a key of every [data.NAME]: "FIELD: ARGUMENTS, FIELD: ARGUMENTS".
/// Augmentations come after all transforms, in the order of their names.
struct Augmentation {
  std::string_view name;
  std::string_view help;
  std::string_view arguments;  ///< in words: "PADDING"
  /// Throws UsageError that says what is wrong with the arguments, or with a field that they do not suit.
  std::unique_ptr<SampleMap> (*make)(const Dataset::Field& field, std::span<const std::string> arguments);
};

PluginTable<Augmentation> augmentation_table();

/// The keys of all augmentations.
std::vector<OptionSpec> augmentation_options();

/// What `options` ask for. Errors name key and field.
SampleMaps augmented(std::vector<Dataset::Field> fields, const Options& options);

/// Where the rows and the columns of an image's sample are: shape [height, width], [channels, height, width], or, if the
/// last axis has at most 4 and the first more, [height, width, channels].
struct ImageAxes {
  std::size_t planes = 1;  ///< that lie one behind the other
  std::size_t height = 1, width = 1;
  std::size_t pixel_bytes = 1;
};

/// UsageError that names the field if it is no image.
ImageAxes image_axes(const Dataset::Field& field);

}  // namespace trainrt::data
