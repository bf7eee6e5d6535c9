#include "checkpoint/format/validation.hpp"

#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "core/text/json_number.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr std::int64_t validation_version = 1;

/// Returns the numeric metrics of a validation. Metrics that are strings or bools are permitted and ignored.
std::map<std::string, double> numbers_in(StrictObject& reader) {
  std::map<std::string, double> numbers;
  for (const auto& [key, value] : reader.object("metrics").items()) {
    if (value.is_structured()) reader.fail("has the metric '" + key + "' that is an array or an object");
    if (const auto number = number_of_json(value)) numbers[key] = *number;
  }
  return numbers;
}

}  // namespace

Validation validation_from(const std::string& text, const std::string& path) {
  const auto json = parse_json(text, path);
  StrictObject reader(json, "the validation", path);
  reader.expect("format", validation_format);
  reader.expect("version", validation_version);
  Validation validation;
  validation.metrics = numbers_in(reader);
  const auto& error = reader.at("error");
  if (!error.is_string() && !error.is_null()) reader.fail("has an 'error' that is neither a string nor null");
  if (error.is_string()) validation.error = error.get<std::string>();
  reader.end();
  return validation;
}

std::optional<Validation> read_validation(const std::string& checkpoint_dir) {
  const auto path = checkpoint_dir + "/" + validation_name;
  const auto text = io::retried_in(run_of(checkpoint_dir), [&]() -> std::optional<std::string> {
    if (!io::exists(path)) return std::nullopt;
    return io::read_file(path);
  });
  if (!text) return std::nullopt;
  return validation_from(*text, path);
}

Meta with_validation(Meta meta, const std::string& checkpoint_dir) {
  if (meta.validation.empty()) return meta;
  std::optional<Validation> found;
  try {
    found = read_validation(checkpoint_dir);
  } catch (const io::StorageError&) {
    throw;
  } catch (const Error&) {  // a damaged file counts as missing; verify() reports the damage
  }
  meta.awaits_validation = !found;
  if (found)
    for (const auto& [name, value] : found->metrics) meta.metrics[name] = value;
  return meta;
}

}  // namespace trainrt::checkpoint
