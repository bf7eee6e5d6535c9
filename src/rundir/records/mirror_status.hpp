#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt::rundir {

/// The status of the mirror, the remote storage to which a run's checkpoints are copied: mirror.json in the run directory.
struct MirrorStatus {
  std::string url;
  std::int64_t newest = -1;  ///< number of the newest checkpoint that is complete on the mirror; -1: no checkpoint yet
  std::int64_t copied = 0;   ///< number of checkpoints copied to the mirror in this attempt
  std::int64_t skipped = 0;  ///< number of checkpoints not copied because a newer one was ready first
  std::int64_t failed = 0;   ///< number of checkpoints that could not be copied to the mirror
  std::string error = {};    ///< error message of the last failed copy
};

/// Returns the status as a text: "checkpoint_000012 at s3://bucket/run/; 12 copied, 3 skipped, 1 failed (why)".
std::string in_words(const MirrorStatus& status);

/// Writes mirror.json atomically, but not durably: the file is only informative.
void write_mirror_status(const std::string& run_dir, const MirrorStatus& status);
/// Reads mirror.json; returns nothing if it is missing or invalid.
std::optional<MirrorStatus> read_mirror_status(const std::string& run_dir);

}  // namespace trainrt::rundir
