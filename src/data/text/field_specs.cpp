#include "data/text/field_specs.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(separator, at), text.size());
    if (auto part = trim(text.substr(at, end - at)); !part.empty()) parts.push_back(std::move(part));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<FieldSpec> field_specs(std::string_view text, std::string_view arguments) {
  std::vector<FieldSpec> wishes;
  for (const auto& each : split_words(text, ',')) {
    const auto colon = each.find(':');
    if (colon == std::string::npos) throw UsageError(fmt::format("'{}' is not of the form FIELD: {}", each, arguments));
    wishes.push_back(
        {trim(std::string_view(each).substr(0, colon)), split_words(std::string_view(each).substr(colon + 1), ' ')});
  }
  return wishes;
}

std::size_t find_field(const std::vector<Dataset::Field>& fields, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
    names.push_back(fields[i].name);
  }
  throw UsageError(fmt::format("there is no field '{}'{}; there are: {}", name, did_you_mean(name, names), join(names)));
}

}  // namespace trainrt::data
