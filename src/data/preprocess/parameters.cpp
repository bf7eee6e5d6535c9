#include "data/preprocess/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "core/text/text.hpp"
#include "data/text/number_text.hpp"

namespace trainrt::data {

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse_parameter(std::string_view name, const Json& value, std::string_view valid) {
  const auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  throw UsageError(fmt::format("{}: {} is invalid; it must be {}", name, excerpt(text, 80), valid));
}

std::optional<double> finite_number(const Json& value) {
  const auto number = value.is_number()   ? std::optional(value.get<double>())
                      : value.is_string() ? real_in(value.get<std::string>())
                                          : std::nullopt;
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> integer_in(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.is_string() ? parse_integer(value.get<std::string>()) : std::nullopt;
}

/// Returns the items of a list as a JSON array. `value` may also be a text such as "a, b", or a single number.
Json items_of(const Json& value) {
  if (value.is_string()) return words_in(value.get<std::string>());
  return value.is_array() ? value : Json::array({value});
}

std::vector<std::string> distinct_names(const ParameterSpec& spec, const Json& value) {
  std::vector<std::string> names;
  for (const auto& each : items_of(value)) {
    if (!each.is_string()) refuse_parameter(spec.name, value, valid_values(spec));
    names.push_back(each.get<std::string>());
  }
  if (names.empty() || std::set<std::string>(names.begin(), names.end()).size() < names.size())
    refuse_parameter(spec.name, value, valid_values(spec));
  return names;
}

/// Returns `value` converted to the type of the parameter. Returns values that depend on the columns unchanged, because
/// the preprocessor checks them later.
Json converted(const ParameterSpec& spec, const Json& value) {
  const auto refuse = [&] { refuse_parameter(spec.name, value, valid_values(spec)); };
  switch (spec.type) {
    case ParameterType::names:
    case ParameterType::name_or_names:
      return distinct_names(spec, value);
    case ParameterType::name:
      if (!value.is_string() || value.get_ref<const std::string&>().empty()) refuse();
      return value;
    case ParameterType::choice: {
      const auto choices = words_in(spec.choices);
      const auto word = value.is_string() ? value.get<std::string>() : "";
      if (std::find(choices.begin(), choices.end(), word) == choices.end())
        refuse_parameter(spec.name, value, valid_values(spec) + did_you_mean(word, choices));
      return value;
    }
    case ParameterType::flag: {
      const auto flag = value.is_boolean()  ? std::optional(value.get<bool>())
                        : value.is_string() ? parse_boolean(value.get<std::string>())
                                            : std::nullopt;
      if (!flag) refuse();
      return *flag;
    }
    case ParameterType::number: {
      const auto number = finite_number(value);
      if (!number) refuse();
      return *number;
    }
    case ParameterType::numbers:
      return numbers_from(spec.name, value);
    case ParameterType::integer:
      return integer_from(spec.name, value, spec.max);
    case ParameterType::python_only:
      throw UsageError(fmt::format("the parameter {} can be set in Python only: {}", spec.name, spec.help));
    default:
      return value;
  }
}

void require_known(std::span<const ParameterSpec> specs, const Json& given) {
  std::vector<std::string> known;
  for (const auto& spec : specs)
    if (spec.type != ParameterType::python_only) known.emplace_back(spec.name);
  for (const auto& [key, value] : given.items())
    if (std::none_of(specs.begin(), specs.end(), [&key = key](const auto& spec) { return spec.name == key; }))
      throw UsageError(fmt::format("unknown parameter '{}'{}; the valid ones are: {}", excerpt(key, 60),
                                   did_you_mean(key, known), join(known)));
}

}  // namespace

std::string valid_values(const ParameterSpec& spec) {
  constexpr std::string_view texts[] = {// texts in the order of ParameterType
                                        "a name",
                                        "a list of column names without duplicates",
                                        "a column name, or a list of them without duplicates",
                                        "one of {choices}",
                                        "true or false",
                                        "a finite number",
                                        "a list of finite numbers",
                                        "an integer from 1 to {max}",
                                        "an integer from 1 to {max}, or an object with one for each column",
                                        "a list of finite numbers, or an object with one for each column",
                                        "an object with an integer of 1 or more for each column, as in {{\"city\": 10}}",
                                        "a number, a string or a bool",
                                        "one of f64, f32, i64, i32, i16, i8, u8",
                                        "null"};
  return fmt::format(fmt::runtime(texts[static_cast<std::size_t>(spec.type)]), fmt::arg("choices", spec.choices),
                     fmt::arg("max", spec.max));
}

std::int64_t integer_from(std::string_view name, const Json& value, std::int64_t max) {
  const auto number = integer_in(value);
  if (!number || *number < 1 || *number > max) refuse_parameter(name, value, fmt::format("an integer from 1 to {}", max));
  return *number;
}

std::vector<double> numbers_from(std::string_view name, const Json& value) {
  std::vector<double> numbers;
  for (const auto& each : items_of(value)) {
    const auto number = finite_number(each);
    if (!number) refuse_parameter(name, value, "a list of finite numbers");
    numbers.push_back(*number);
  }
  return numbers;
}

Parameters::Parameters(std::span<const ParameterSpec> specs, const Json& given) {
  if (!given.is_object()) throw UsageError("the parameters must be a JSON object");
  require_known(specs, given);
  for (const auto& spec : specs) {
    const std::string name(spec.name);
    const auto found = given.find(name);
    const auto is_given = found != given.end() && !found->is_null();
    if (!is_given && spec.type == ParameterType::python_only) continue;
    if (is_given)
      values_[name] = converted(spec, *found);
    else if (spec.default_value.empty())
      throw UsageError(fmt::format("missing parameter {}: {}", name, valid_values(spec)));
    else if (!spec.default_value.starts_with('='))
      values_[name] = Json::parse(spec.default_value);
    if (!spec.default_value.starts_with('=')) continue;
    const auto& like = values_.at(std::string(spec.default_value.substr(1)));
    if (!is_given) values_[name] = like;
    if (values_[name].size() != like.size())
      throw UsageError(fmt::format("{} has {} names, but there are {} columns", name, values_[name].size(), like.size()));
  }
  recorded_ = values_;
  for (const auto& spec : specs)
    if (const std::string name(spec.name); spec.is_later && values_[name].is_null()) recorded_.erase(name);
}

}  // namespace trainrt::data
