#pragma once
#include <map>
#include <optional>
#include <string>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// The result of a validation that a manifest requests. It is written atomically to validation.json of the checkpoint
/// directory: {"format": "trainrt validation", "version": 1, "metrics": {...}, "error": null or a string}.
struct Validation {
  std::map<std::string, double> metrics;  ///< numbers that the validation returned, including NaN
  std::string error;                      ///< message of the failure; "" if the validation succeeded
};

/// Parses the text of validation.json. Throws Error naming `path` if it is invalid.
Validation validation_from(const std::string& text, const std::string& path);

/// Reads validation.json of a checkpoint. Returns nullopt if it does not exist, because the validation is not done. Throws
/// Error if it cannot be read or is invalid.
std::optional<Validation> read_validation(const std::string& checkpoint_dir);

/// Returns `meta` with the metrics of its validation, which replace those of the same name. Sets awaits_validation if the
/// validation is not done, or its file is damaged, so that it must be repeated. Throws io::StorageError.
Meta with_validation(Meta meta, const std::string& checkpoint_dir);

}  // namespace trainrt::checkpoint
