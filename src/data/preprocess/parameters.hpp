#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace trainrt::data {

/// The type of a parameter of a preprocessor: which values are valid. A config file writes a list as "a, b" and any other
/// value as a text; JSON may do so, too.
enum class ParameterType : std::uint8_t {
  name,                ///< a name that is not empty
  names,               ///< a list of names without duplicates, at least one
  name_or_names,       ///< the same; Python users give one name as a string
  choice,              ///< one of ParameterSpec::choices
  flag,                ///< a bool
  number,              ///< a finite number
  numbers,             ///< a list of finite numbers
  integer,             ///< an integer from 1 to ParameterSpec::max
  integer_per_column,  ///< an integer from 1 to `max`, or an object with one for each column
  numbers_per_column,  ///< a list of numbers, or an object with one for each column
  category_limits,     ///< an object {column: integer from 1 on}
  scalar,              ///< a number, a string or a bool
  element_type,        ///< the name of a type of numbers, as in "f32"
  unsupported          ///< an argument of Ray's class that is an error if it is given; `help` states the reason
};

/// The declaration of a parameter. Parsing, error messages, the output of `trainrt list` and the Python class are derived
/// from it.
struct ParameterSpec {
  std::string_view name;
  ParameterType type;
  std::string_view help;
  /// The default as JSON. "": the parameter is required; "null": no value; "=columns": the value of the parameter
  /// `columns`, which must precede this one in the table.
  std::string_view default_value = {};
  std::string_view choices = {};  ///< valid words of a `choice`: "raise, drop"
  std::int64_t max = std::int64_t{1} << 24;
  bool is_keyword_only = false;  ///< in Python: this parameter and those after it must be given by name
  bool is_ignored = false;       ///< has no effect; Python classes accept it and do not write it to JSON
};

constexpr ParameterSpec columns_parameter{"columns", ParameterType::names, "names of the columns to transform"};
constexpr ParameterSpec output_columns_parameter{
    "output_columns", ParameterType::names,
    "names of the new columns, one for each of `columns`; by default, each replaces its column", "=columns"};

/// Declares that a parameter, and those after it, must be given by name in Python.
constexpr ParameterSpec keyword_only(ParameterSpec spec) {
  spec.is_keyword_only = true;
  return spec;
}

/// Describes the valid values of a parameter: "an integer from 1 to 1048576".
std::string valid_values(const ParameterSpec& spec);

/// The parameters of one preprocessor: those that were given, and the defaults of the others.
class Parameters {
 public:
  /// Converts each value of `given`, a JSON object, to the type that `specs` declares for it. Throws UsageError, which
  /// names the parameter and the valid ones or valid values, if one is unknown, missing or invalid.
  Parameters(std::span<const ParameterSpec> specs, const nlohmann::json& given);

  /// Return the value of a declared parameter. json() returns null for an optional one without a value.
  const nlohmann::json& json(std::string_view name) const { return values_.at(std::string(name)); }
  template <class T>
  T get(std::string_view name) const {
    return json(name).get<T>();
  }
  std::vector<std::string> names(std::string_view name) const { return get<std::vector<std::string>>(name); }
  std::string text(std::string_view name) const { return get<std::string>(name); }

  const nlohmann::json& all() const { return values_; }  ///< an object with all parameters, for the JSON of a preprocessor

 private:
  nlohmann::json values_ = nlohmann::json::object();
};

/// Convert one value of the parameter `name`. Throw UsageError if it is not an integer from 1 to `max`, or not a list of
/// finite numbers.
std::int64_t integer_from(std::string_view name, const nlohmann::json& value, std::int64_t max);
std::vector<double> numbers_from(std::string_view name, const nlohmann::json& value);

}  // namespace trainrt::data
