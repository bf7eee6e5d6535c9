#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt::rundir {

/// The status of the mirror that a run's checkpoints are copied to: mirror.json in the run directory.
struct MirrorStatus {
  std::string url;
  std::int64_t newest = -1;  ///< number of the newest checkpoint that is complete at the mirror; -1: no checkpoint yet
  std::int64_t copied = 0;   ///< checkpoints copied in this attempt
  std::int64_t skipped = 0;  ///< checkpoints not copied because a newer one was ready first
  std::int64_t failed = 0;   ///< checkpoints that could not be copied
  std::string error = {};    ///< error of the last failed copy
};

/// Returns "checkpoint_000012 at s3://bucket/run/; 12 copied, 3 skipped, 1 failed (why)".
std::string in_words(const MirrorStatus& status);

/// Writes mirror.json atomically, but not durably: the file is only informative.
void write_mirror_status(const std::string& run_dir, const MirrorStatus& status);
/// Reads mirror.json; returns nothing if it is missing or invalid.
std::optional<MirrorStatus> read_mirror_status(const std::string& run_dir);

}  // namespace trainrt::rundir
