#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// The part of a config key's value that applies to one field: "FIELD: ARGUMENT ARGUMENT".
struct FieldSpec {
  std::string field;
  std::vector<std::string> arguments;
};

/// Parses the value of a config key, which is a comma-separated list of FieldSpecs. Throws UsageError for an item without
/// a colon. `arguments` describes the expected arguments, for the message.
std::vector<FieldSpec> field_specs(std::string_view text, std::string_view arguments);

/// Returns the index of the field called `name`. Throws UsageError, with the names of all fields, for an unknown name.
std::size_t find_field(const std::vector<Dataset::Field>& fields, std::string_view name);

/// Throws UsageError unless the field can be used as a key, by which samples are compared: it must contain one integer per
/// sample, or texts. `what` names the field in the message: "the key 'id' of dataset 'users'".
void require_key(const Dataset::Field& field, const std::string& what);

/// Returns the value of a key field as bytes, which are equal if and only if the values are equal: the bytes of a text, or
/// an integer as 64 bits.
std::string key_of(const TensorView& values, const Dataset::Field& field);

}  // namespace trainrt::data
