#pragma once
#include <map>
#include <optional>
#include <string>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// The result of a validation of a checkpoint that the checkpoint's manifest requests. The validating program writes the
/// result atomically to validation.json in the checkpoint directory:
/// {"format": "trainrt validation", "version": 1, "metrics": {...}, "error": null or a string}.
struct Validation {
  std::map<std::string, double> metrics;  ///< numeric metrics that the validation returned, including NaN
  std::string error;                      ///< error message of a failed validation; "" if the validation succeeded
};

/// Parses the text of a validation.json. Throws Error naming `path` if the text is invalid.
Validation validation_from(const std::string& text, const std::string& path);

/// Reads validation.json of a checkpoint. Returns nullopt if the file does not exist, because the validation is not done.
/// Throws Error if the file cannot be read or is invalid.
std::optional<Validation> read_validation(const std::string& checkpoint_dir);

/// Returns `meta` with the metrics from the validation of the checkpoint, if its manifest requests a validation. Metrics
/// from the validation replace metrics of `meta` with the same name. Sets Meta::awaits_validation if the validation is not
/// done, or if validation.json is damaged, so that the validation must be repeated. Throws io::StorageError if
/// validation.json cannot be read.
Meta with_validation(Meta meta, const std::string& checkpoint_dir);

}  // namespace trainrt::checkpoint
