#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace trainrt::data {

/// The type of a parameter of a preprocessor, which determines its valid values. A config file writes a list as "a, b",
/// and any other value as a text. JSON may contain such texts, too.
enum class ParameterType : std::uint8_t {
  name,                ///< a name that is not empty
  names,               ///< a list of names without duplicates, at least one
  name_or_names,       ///< the same; Python users give one name as a string
  choice,              ///< one of ParameterSpec::choices
  flag,                ///< a bool
  number,              ///< a finite number
  numbers,             ///< a list of finite numbers
  integer,             ///< an integer from 1 to ParameterSpec::max
  integer_per_column,  ///< an integer from 1 to `max`, or an object {column: integer}
  numbers_per_column,  ///< a list of numbers, or an object {column: list of numbers}
  category_limits,     ///< an object {column: integer from 1 on}
  scalar,              ///< a number, a string or a bool
  element_type,        ///< the name of a type of numbers, as in "f32"
  python_only          ///< an argument that only the Python class has, since JSON cannot contain its values
};

/// The declaration of a parameter. Parsing, error messages, the output of `trainrt list` and the Python class are derived
/// from it.
struct ParameterSpec {
  std::string_view name;
  ParameterType type;
  std::string_view help;
  /// The default value as JSON. There are three special values:
  /// - "": the parameter is required
  /// - "null": the parameter has no value by default
  /// - "=columns": the value of the parameter `columns`, which must precede this one in the table
  std::string_view default_value = {};
  std::string_view choices = {};  ///< valid words of a `choice`: "raise, drop"
  std::int64_t max = std::int64_t{1} << 24;
  bool is_keyword_only = false;  ///< in Python: this parameter and those after it must be given by name
  bool is_ignored = false;       ///< has no effect; Python classes accept it and do not write it to JSON
  bool is_later = false;         ///< was added later; without a value, JSON lacks it, so that earlier versions can read it
  std::string_view python_default = {};  ///< default of the Python class as JSON, if it differs from `default_value`
};

constexpr ParameterSpec columns_parameter{"columns", ParameterType::names, "names of the columns to transform"};
constexpr ParameterSpec output_columns_parameter{
    "output_columns", ParameterType::names,
    "names of the new columns, one for each of `columns`; by default, each replaces its column", "=columns"};
constexpr ParameterSpec num_features_parameter{
    .name = "num_features", .type = ParameterType::integer, .help = "length of the vector", .max = 1 << 20};
constexpr ParameterSpec tokenization_parameter{
    "tokenization_fn", ParameterType::python_only,
    "function that returns the list of the words of a text; by default, words are separated by single spaces; a "
    "preprocessor with a function cannot be saved as JSON",
    "null"};

/// Declares a parameter that was added later. See ParameterSpec::is_later.
constexpr ParameterSpec later(ParameterSpec spec) {
  spec.is_later = true;
  return spec;
}

/// Declares that in Python this parameter, and those after it, must be given by name.
constexpr ParameterSpec keyword_only(ParameterSpec spec) {
  spec.is_keyword_only = true;
  return spec;
}

/// Describes the valid values of a parameter: "an integer from 1 to 1048576".
std::string valid_values(const ParameterSpec& spec);

/// The values of the parameters of one preprocessor. A parameter that was not given has its default.
class Parameters {
 public:
  /// Converts each value of `given`, a JSON object, to the type that `specs` declares for it. Throws UsageError if a
  /// parameter is unknown, missing or invalid. The message names the parameter and either the valid parameters or its
  /// valid values.
  Parameters(std::span<const ParameterSpec> specs, const nlohmann::json& given);

  /// Return the value of a declared parameter. json() returns null for an optional parameter without a value.
  const nlohmann::json& json(std::string_view name) const { return values_.at(std::string(name)); }
  template <class T>
  T get(std::string_view name) const {
    return json(name).get<T>();
  }
  std::vector<std::string> names(std::string_view name) const { return get<std::vector<std::string>>(name); }
  std::string text(std::string_view name) const { return get<std::string>(name); }

  const nlohmann::json& recorded() const { return recorded_; }  ///< the parameters, for the JSON of a preprocessor

 private:
  nlohmann::json values_ = nlohmann::json::object(), recorded_;
};

/// Convert one value of the parameter `name`. integer_from() throws UsageError unless it is an integer from 1 to `max`.
/// numbers_from() throws UsageError unless it is a list of finite numbers.
std::int64_t integer_from(std::string_view name, const nlohmann::json& value, std::int64_t max);
std::vector<double> numbers_from(std::string_view name, const nlohmann::json& value);

}  // namespace trainrt::data
