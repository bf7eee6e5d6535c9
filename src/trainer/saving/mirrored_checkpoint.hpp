#pragma once
#include <optional>
#include <string>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/mirrored_run.hpp"

namespace trainrt::trainer {

/// The result of fetch_newest().
struct FetchedCheckpoint {
  std::optional<checkpoint::Meta> meta;  ///< the checkpoint that was copied; nothing if no checkpoint can be used
  /// Name of the newest checkpoint that is intact, but cannot be used because its reports are missing; or "".
  std::string without_reports;
};

/// Copies the mirror's newest usable checkpoint into the existing directory `directory`. A checkpoint is usable if its
/// digests are correct and result.json in `reports_in` has all reports up to it. Logs a warning for each checkpoint that is
/// not. Throws StorageError.
FetchedCheckpoint fetch_newest(const checkpoint::MirroredRun& mirror, const std::string& directory,
                               const std::string& reports_in);

}  // namespace trainrt::trainer
