#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/random.hpp>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/images/image_axes.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

using Fields = std::vector<Dataset::Field>;

/// A change of the values of one field.
struct FieldMap {
  Dataset::Field field;  ///< the field after the change; its samples have equal length
  /// Writes the changed values of a sample to its parameter `to`, which must have exactly the size of these values. The
  /// result depends only on the parameter `from`, the current values, and on the random numbers. A change without random
  /// numbers also accepts the values of several samples, one sample after another.
  ///
  /// Several threads may call the function at the same time. If a value cannot be changed, throws UsageError, which names
  /// the field and the value.
  Dataset::SampleFunction apply;
};

/// A plug-in that changes values. Its `name` is a key of all sections [data.NAME]; the value of the key has the form
/// "FIELD: ARGUMENTS, FIELD: ARGUMENTS".
///
/// A plug-in in data/transform/transforms makes changes without random numbers. A plug-in in data/transform/augmentations
/// makes changes that may be random, and that are applied after all operations on samples. The plug-ins of a folder are
/// applied in ascending order of `order`, and in the order of their names if `order` is equal.
struct Transform {
  std::string_view name;
  std::string_view help;
  std::string_view arguments;  ///< form of the arguments for help and messages: "MEAN DEVIATION"
  /// Returns the change of `field` that `arguments` describe. Throws UsageError, which names the field, if the arguments
  /// are invalid, or cannot be applied to this field.
  FieldMap (*make)(const Dataset::Field& field, std::span<const std::string> arguments) = nullptr;
  int order = 0;  ///< determines when the change is applied; changes of sizes are applied first
};

PluginTable<Transform> transform_table();
PluginTable<Transform> augmentation_table();

/// Returns the specifications of the keys that the plug-ins in `table` define.
std::vector<OptionSpec> field_options(PluginTable<Transform> table);

/// A list of changes of a dataset's fields, which are applied in the order in which they were added. The random numbers of
/// a change depend only on the epoch's seed, the sample, and the name of the change. They do not depend on ranks, threads,
/// batches or restarts.
class FieldMaps {
 public:
  explicit FieldMaps(Fields fields) : before_(fields), fields_(std::move(fields)), steps_(fields_.size()) {}
  /// Constructs the changes of `fields` that the keys of the plug-ins in `table` request. `options` has the values of the
  /// keys. Throws UsageError, which names the key and the field, if a value is invalid.
  FieldMaps(Fields fields, PluginTable<Transform> table, const Options& options);

  /// Returns the index of the field `name`. Throws UsageError if it does not exist, or if its samples vary in length.
  std::size_t find(std::string_view name) const;
  /// Adds a change of the field with the index `field`. Changes with the same `name` draw the same random numbers for a
  /// sample, even for different fields, so that for example an image and its mask are flipped together.
  void add(std::size_t field, std::string_view name, FieldMap map);
  /// Returns the fields after all changes.
  const Fields& fields() const { return fields_; }
  /// Returns the same changes for samples with the fields `fields`, in which the changed fields are found by their names.
  /// Throws UsageError if such a field is missing, or has a different type or shape.
  FieldMaps over(const Fields& fields) const;
  /// Returns whether any change was added.
  bool changes_any() const {
    return std::any_of(steps_.begin(), steps_.end(), [](const auto& steps) { return !steps.empty(); });
  }
  /// Replaces the values in `column`, those of the samples with the indices `samples`, by the changed values. `seed` is the
  /// seed of the epoch.
  void apply(std::uint64_t seed, std::span<const std::uint64_t> samples, Column& column) const;
  /// Replaces the values in `column`, those of `samples` samples, by the changed values. Precondition: no change uses
  /// random numbers.
  void apply(std::size_t samples, Column& column) const;

 private:
  struct Step {
    std::uint64_t name;  ///< hash of the name
    std::shared_ptr<const FieldMap> map;
  };
  Fields before_;                         ///< the fields of the source
  Fields fields_;                         ///< the fields after all changes
  std::vector<std::vector<Step>> steps_;  ///< for each field, its changes
};

/// Returns a source with the samples of `source`, changed as the keys of transform_table() in `options` request.
/// Returns `source` itself if these keys request no changes. Throws UsageError, which names the key and the field, if
/// the value of a key is invalid.
std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source, const Options& options);

/// Returns the change of `field` to (x - mean) / deviation, as f32. For u8, x is the value divided by 255, as in
/// torchvision's ToTensor. `arguments` are the mean and the standard deviation of all values. For images, they may instead
/// be the mean of each channel, then the deviation of each channel. Throws UsageError, which names the field, if the
/// arguments are invalid, or cannot be applied to this field.
FieldMap standardized(const Dataset::Field& field, std::span<const std::string> arguments);

/// Returns a change of `field` to images of the size `size`. The change calls `change` for each image, with the values of
/// the image and the memory for its new values. Throws UsageError if the samples of the field are not images.
FieldMap image_map(const Dataset::Field& field, ImageSize size,
                   std::function<void(std::span<const std::byte> image, std::byte* to)> change);

/// The range from which the area of a random part of an image is drawn, as fractions of the image's area: 0 < min <= max
/// <= 1.
struct AreaRange {
  double min = 0, max = 1;
};
/// Parses the arguments "[MIN MAX]" of an augmentation. Returns `default_range` if `arguments` is empty, and nullopt if the
/// arguments are invalid.
std::optional<AreaRange> parse_area_range(std::span<const std::string> arguments, AreaRange default_range);

/// Returns whether `dtype` is a type that call_with_type() supports: all but 8-bit and 16-bit floating point.
bool is_plain_number(DType dtype);

/// Returns `call(T())` for the C++ type T of `dtype`; booleans are std::uint8_t. Precondition: is_plain_number(dtype).
template <class Call>
auto call_with_type(DType dtype, const Call& call) {
  switch (dtype) {
    case DType::f64:
      return call(double());
    case DType::f32:
      return call(float());
    case DType::i64:
      return call(std::int64_t());
    case DType::i32:
      return call(std::int32_t());
    case DType::i16:
      return call(std::int16_t());
    case DType::i8:
      return call(std::int8_t());
    default:
      return call(std::uint8_t());
  }
}

/// Returns the number with index `index` in `values`, an array of type `dtype`. Precondition: is_plain_number(dtype).
inline double number_at(std::span<const std::byte> values, DType dtype, std::size_t index) {
  return call_with_type(dtype, [&](auto value) {
    std::memcpy(&value, values.data() + index * sizeof value, sizeof value);
    return static_cast<double>(value);
  });
}

}  // namespace trainrt::data
