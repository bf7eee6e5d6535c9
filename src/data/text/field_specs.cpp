#include "data/text/field_specs.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

std::vector<FieldSpec> field_specs(std::string_view text, std::string_view arguments) {
  std::vector<FieldSpec> specs;
  for (const auto& each : words_in(text)) {
    const auto colon = each.find(':');
    if (colon == std::string::npos) throw UsageError(fmt::format("'{}' does not have the form FIELD: {}", each, arguments));
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

void require_key(const Dataset::Field& field, const std::string& what) {
  const bool is_text = field.varies && field.dtype == DType::u8;
  const bool is_whole = !field.varies && element_count(field.sample_shape) == 1 &&
                        (field.dtype == DType::i64 || field.dtype == DType::i32 || field.dtype == DType::i16 ||
                         field.dtype == DType::i8 || field.dtype == DType::u8);
  if (!is_text && !is_whole) throw UsageError(what + " is neither an integer nor a text, so its values cannot be compared");
}

std::string key_of(const TensorView& values, const Dataset::Field& field) {
  const auto* const data = static_cast<const std::byte*>(values.data);
  if (field.varies) return {reinterpret_cast<const char*>(data), values.bytes()};
  const auto number = integer_at(data, field.dtype);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

}  // namespace trainrt::data
