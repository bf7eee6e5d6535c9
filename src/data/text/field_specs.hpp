#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// What a key asks for one field: "FIELD: ARGUMENTS".
struct FieldSpec {
  std::string field;
  std::vector<std::string> arguments;
};

/// Those of a key's text, between commas. `arguments`: in words, for the UsageError of one that is none.
std::vector<FieldSpec> field_specs(std::string_view text, std::string_view arguments);

/// The number of the field. UsageError that names all fields if there is none of that name.
std::size_t find_field(const std::vector<Dataset::Field>& fields, std::string_view name);

}  // namespace trainrt::data
