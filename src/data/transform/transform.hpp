#pragma once
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/images/image_axes.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// A change of the values of one field.
struct FieldMap {
  Dataset::Field field;  ///< the field after the change
  /// Writes the changed values of some samples to `to`, which must have exactly the size of these values. `from` holds
  /// the current values of the same samples, one sample after another. Several threads may call it at the same time.
  /// Throws UsageError that names the field and a value that cannot be changed.
  std::function<void(std::span<const std::byte> from, std::span<std::byte> to)> apply;
};

/// A plug-in that changes values. Each plug-in is one file in data/transform/transforms. Its `name` may be used as a key in
/// any section [data.NAME]; the value of the key has the form "FIELD: ARGUMENTS, FIELD: ARGUMENTS". The transforms of a
/// section are applied in ascending order of their member `order`, and those of equal order by name.
struct Transform {
  std::string_view name;
  std::string_view help;
  std::string_view arguments;  ///< form of the arguments for help and messages: "MEAN DEVIATION"
  /// Returns the change of `field`. Throws UsageError that names the field if the arguments are invalid or do not suit
  /// the field.
  FieldMap (*make)(const Dataset::Field& field, std::span<const std::string> arguments) = nullptr;
  int order = 0;  ///< position among all transforms; those that change sizes come first
};

PluginTable<Transform> transform_table();

/// Returns the keys of all transforms.
std::vector<OptionSpec> transform_options();

/// Returns `source` with the changes that `options` request. Returns `source` itself if they request no changes. Throws
/// UsageError that names the key and the field if a value is invalid.
std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source, const Options& options);

/// Returns a field map that converts images of `field` to the size `size`. For each image it calls `change` with the
/// values of the image and the memory for its new values. Throws UsageError if the field holds no images.
FieldMap image_map(const Dataset::Field& field, ImageSize size,
                   std::function<void(std::span<const std::byte> image, std::byte* to)> change);

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
