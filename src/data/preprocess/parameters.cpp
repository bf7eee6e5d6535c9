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

[[noreturn]] void refuse_parameter(std::string_view key, const nlohmann::json& value, std::string_view what) {
  const auto text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  throw UsageError(fmt::format("{}: {}; it must be {}", key, excerpt(text, 80), what));
}

std::optional<double> number_from(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  return real_in(value.get<std::string>());
}

std::optional<std::int64_t> whole_from(const nlohmann::json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.is_string() ? parse_integer(value.get<std::string>()) : std::nullopt;
}

}  // namespace

Parameters::Parameters(nlohmann::json given) : given_(std::move(given)) {
  if (!given_.is_object()) throw UsageError("the parameters must be an object");
}

const nlohmann::json* Parameters::find(std::string_view key) {
  const std::string name(key);
  used_[name] = nullptr;
  const auto found = given_.find(name);
  return found == given_.end() || found->is_null() ? nullptr : &*found;
}

const nlohmann::json& Parameters::get(std::string_view key) {
  const auto* const found = find(key);
  if (found == nullptr) throw UsageError(fmt::format("the parameter {} is missing", key));
  return *found;
}

std::vector<std::string> Parameters::list(std::string_view key, const nlohmann::json& value) const {
  constexpr std::string_view what = "a list of names, none twice";
  std::vector<std::string> names;
  if (value.is_string()) {
    names = words_in(value.get<std::string>());
  } else {
    if (!value.is_array()) refuse_parameter(key, value, what);
    for (const auto& each : value) {
      if (!each.is_string()) refuse_parameter(key, value, what);
      names.push_back(each.get<std::string>());
    }
  }
  if (names.empty() || std::set<std::string>(names.begin(), names.end()).size() < names.size())
    refuse_parameter(key, value, what);
  return names;
}

std::vector<std::string> Parameters::names(std::string_view key) {
  auto names = list(key, get(key));
  used_[std::string(key)] = names;
  return names;
}

std::vector<std::string> Parameters::names(std::string_view key, const std::vector<std::string>& otherwise) {
  const auto* const found = find(key);
  auto names = found == nullptr ? otherwise : list(key, *found);
  if (names.size() != otherwise.size())
    throw UsageError(fmt::format("{} has {} names, and there are {} columns", key, names.size(), otherwise.size()));
  used_[std::string(key)] = names;
  return names;
}

std::string Parameters::text(std::string_view key, std::optional<std::string_view> otherwise) {
  const auto* const found = otherwise ? find(key) : &get(key);
  if (found != nullptr && (!found->is_string() || found->get_ref<const std::string&>().empty()))
    refuse_parameter(key, *found, "a name");
  auto text = found != nullptr ? found->get<std::string>() : std::string(*otherwise);
  used_[std::string(key)] = text;
  return text;
}

std::string Parameters::choice(std::string_view key, const std::vector<std::string>& choices, std::string_view otherwise) {
  auto chosen = text(key, otherwise);
  if (std::find(choices.begin(), choices.end(), chosen) == choices.end())
    refuse_parameter(key, chosen, fmt::format("one of {}{}", join(choices), did_you_mean(chosen, choices)));
  return chosen;
}

double Parameters::number(std::string_view key) {
  const auto& found = get(key);
  const auto number = number_from(found);
  if (!number || !std::isfinite(*number)) refuse_parameter(key, found, "a number");
  used_[std::string(key)] = *number;
  return *number;
}

std::vector<double> Parameters::numbers(std::string_view key, const std::vector<double>& otherwise) {
  const auto* const found = find(key);
  std::vector<double> numbers = otherwise;
  if (found != nullptr) {
    numbers.clear();
    const auto list = found->is_string() ? nlohmann::json(words_in(found->get<std::string>())) : *found;
    for (const auto& each : list.is_array() ? list : nlohmann::json::array({list})) {
      const auto number = number_from(each);
      if (!number || !std::isfinite(*number)) refuse_parameter(key, *found, "a list of numbers");
      numbers.push_back(*number);
    }
  }
  used_[std::string(key)] = numbers;
  return numbers;
}

std::int64_t Parameters::whole(std::string_view key, std::int64_t least, std::int64_t most) {
  const auto found = whole_if_given(key, least, most);
  if (!found) throw UsageError(fmt::format("the parameter {} is missing", key));
  return *found;
}

std::optional<std::int64_t> Parameters::whole_if_given(std::string_view key, std::int64_t least, std::int64_t most) {
  const auto* const found = find(key);
  if (found == nullptr) return std::nullopt;
  const auto number = whole_from(*found);
  if (!number || *number < least || *number > most)
    refuse_parameter(key, *found, fmt::format("a whole number, {} to {}", least, most));
  used_[std::string(key)] = *number;
  return number;
}

bool Parameters::flag(std::string_view key, bool otherwise) {
  const auto* const found = find(key);
  auto value = std::optional(otherwise);
  if (found != nullptr && found->is_boolean())
    value = found->get<bool>();
  else if (found != nullptr)
    value = found->is_string() ? parse_boolean(found->get<std::string>()) : std::nullopt;
  if (!value) refuse_parameter(key, *found, "true or false");
  used_[std::string(key)] = *value;
  return *value;
}

nlohmann::json Parameters::any(std::string_view key) {
  const auto* const found = find(key);
  if (found != nullptr) used_[std::string(key)] = *found;
  return found != nullptr ? *found : nlohmann::json();
}

void Parameters::require_all_used() const {
  std::vector<std::string> known;
  for (const auto& [key, value] : used_.items()) known.push_back(key);
  for (const auto& [key, value] : given_.items())
    if (!used_.contains(key))
      throw UsageError(fmt::format("there is no parameter '{}'{}; there are: {}", excerpt(key, 60),
                                   did_you_mean(key, known), join(known)));
}

}  // namespace trainrt::data
