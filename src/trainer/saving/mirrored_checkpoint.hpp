#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/mirrored_run.hpp"

namespace trainrt::trainer {

/// The result of fetch_newest(): the checkpoint that was copied from the mirror, or why none was copied.
struct FetchedCheckpoint {
  std::optional<checkpoint::Meta> meta;  ///< metadata of the copied checkpoint; nothing if no checkpoint can be used
  /// Name of the newest intact checkpoint that cannot be used, since result.json lacks its reports; otherwise "".
  std::string without_reports;
};

/// Copies the mirror's newest usable checkpoint into the existing directory `directory`. A checkpoint is usable if its
/// digests are correct and result.json in the folder `reports_in` has all reports up to the checkpoint. Logs a warning for
/// each newer checkpoint, which is not usable. Tries checkpoint `preferred` first. Throws StorageError.
FetchedCheckpoint fetch_newest(const checkpoint::MirroredRun& mirror, const std::string& directory,
                               const std::string& reports_in, std::optional<std::int64_t> preferred = std::nullopt);

}  // namespace trainrt::trainer
