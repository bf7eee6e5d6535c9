#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace trainrt::data {

/// The type of a parameter of a preprocessor, which determines its valid values. In a config file, a list is the text
/// "a, b", and any other value is a text, too. JSON may also contain such texts instead of lists and numbers.
enum class ParameterType : std::uint8_t {
  name,                ///< a name that is not empty
  names,               ///< a list of names without duplicates, at least one
  name_or_names,       ///< like `names`; in Python, a single name may be a string
  choice,              ///< one of ParameterSpec::choices
  flag,                ///< a bool
  number,              ///< a finite number
  numbers,             ///< a list of finite numbers
  integer,             ///< an integer from 1 to ParameterSpec::max
  integer_per_column,  ///< an integer from 1 to `max`, or an object {column: integer}
  numbers_per_column,  ///< a list of numbers, or an object {column: list of numbers}
  category_limits,     ///< an object {column: integer of 1 or more}
  scalar,              ///< a number, a string or a bool
  element_type,        ///< the name of a type of numbers, as in "f32"
  python_only          ///< an argument that only the Python class has, since JSON cannot contain its values
};

/// The declaration of a parameter of a preprocessor. Determines how values are parsed, the error messages, the output of
/// `trainrt list` and the argument of the Python class.
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
  bool is_keyword_only = false;  ///< true: in Python, this parameter and those after it must be passed by name
  bool is_ignored = false;       ///< true: has no effect; Python classes accept the parameter, but do not write it to JSON
  bool is_later = false;         ///< true: if unset, is not written to JSON, so that versions without it can read the JSON
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
    "function that returns the list of the words of a text; by default, words are separated by single spaces; "
    "a preprocessor with a function cannot be saved as JSON",
    "null"};

/// Returns `spec` with is_later: the parameter was added to the preprocessor by a later version of trainrt.
constexpr ParameterSpec later(ParameterSpec spec) {
  spec.is_later = true;
  return spec;
}

/// Returns `spec` with is_keyword_only: in Python, this parameter and those after it must be passed by name.
constexpr ParameterSpec keyword_only(ParameterSpec spec) {
  spec.is_keyword_only = true;
  return spec;
}

/// Returns a description of the valid values of a parameter, for messages: "an integer from 1 to 1048576".
std::string valid_values(const ParameterSpec& spec);

/// The values of the parameters of one preprocessor. A parameter that was not set has its default.
class Parameters {
 public:
  /// Converts each value of `given`, a JSON object, to the type that `specs` declares for the parameter. Throws UsageError
  /// if a parameter is unknown, missing or invalid. The message names the parameter, and the valid parameters or values.
  Parameters(std::span<const ParameterSpec> specs, const nlohmann::json& given);

  /// json() and get() return the value of a declared parameter. For an optional parameter without a value, json() returns
  /// null.
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

/// integer_from() and numbers_from() convert `value`, a value of the parameter `name`. They throw UsageError unless it is
/// an integer from 1 to `max`, or a list of finite numbers.
std::int64_t integer_from(std::string_view name, const nlohmann::json& value, std::int64_t max);
std::vector<double> numbers_from(std::string_view name, const nlohmann::json& value);

}  // namespace trainrt::data
