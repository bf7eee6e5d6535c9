#include "data/text/field_specs.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::data {

std::vector<FieldSpec> field_specs(std::string_view text, std::string_view arguments) {
  std::vector<FieldSpec> specs;
  for (const auto& each : words_in(text)) {
    const auto colon = each.find(':');
    if (colon == std::string::npos) throw UsageError(fmt::format("'{}' is not of the form FIELD: {}", each, arguments));
    specs.push_back({trim(each.substr(0, colon)), words_in(std::string_view(each).substr(colon + 1), ' ')});
  }
  return specs;
}

std::size_t find_field(const std::vector<Dataset::Field>& fields, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
    names.push_back(fields[i].name);
  }
  throw UsageError(fmt::format("there is no field '{}'{}; the fields are: {}", excerpt(name, 60), did_you_mean(name, names),
                               excerpt(join(names))));
}

}  // namespace trainrt::data
