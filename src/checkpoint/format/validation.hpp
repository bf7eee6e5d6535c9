#pragma once
#include <map>
#include <optional>
#include <string>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// What came of the validation that a manifest asks for. It is written into the checkpoint's directory, as a whole, when
/// the validation has ended: {"format": "trainrt validation", "version": 1, "metrics": {...}, "error": null or a text}.
struct Validation {
  std::map<std::string, double> metrics;  ///< its numbers; NaN if it was NaN
  std::string error;                      ///< why there are none; "" if it succeeded
};

/// Reads the text of such a file. Error that names `path` if it is something else.
Validation validation_from(const std::string& text, const std::string& path);

/// nullopt if it has not ended. Error if the file cannot be read, or is none.
std::optional<Validation> read_validation(const std::string& checkpoint_dir);

/// The meta with the metrics that its validation has found, over those of the same name. If that has not ended, or its file
/// is damaged, so that it has to be done again, it is marked as awaiting it.
Meta with_validation(Meta meta, const std::string& checkpoint_dir);

}  // namespace trainrt::checkpoint
