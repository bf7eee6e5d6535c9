#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// What is made of the values of one field. Pure: any threads at once.
class FieldMap {
 public:
  virtual ~FieldMap() = default;
  virtual const Dataset::Field& field() const = 0;  ///< as it becomes
  /// `from`: the values of some samples; `to` gets theirs, and has room for them.
  virtual void apply(std::span<const std::byte> from, std::span<std::byte> to) const = 0;
};

/// A plug-in: one file in data/transforms. Its name is a key of every [data.NAME]: "FIELD: ARGUMENTS, FIELD: ARGUMENTS".
/// Transforms are applied in the order of their places, then of their names.
struct Transform {
  std::string_view name;
  std::string_view help;
  std::string_view arguments;  ///< in words: "MEAN DEVIATION"
  /// Throws UsageError that says what is wrong with the arguments, or with a field that they do not suit.
  std::unique_ptr<FieldMap> (*make)(const Dataset::Field& field, std::span<const std::string> arguments) = nullptr;
  int order = 0;  ///< position among all transforms; those that change sizes come first
};

PluginTable<Transform> transform_table();

/// The keys of all transforms.
std::vector<OptionSpec> transform_options();

/// The source with what `options` ask for; the source itself if they ask for nothing. Errors name key and field.
std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source, const Options& options);

/// A number of any type as a double: value `at` of `values`. Not of 8- and 16-bit floats.
double number_at(std::span<const std::byte> values, DType dtype, std::size_t at);
/// Whether number_at() knows the type.
bool is_plain_number(DType dtype);

}  // namespace trainrt::data
