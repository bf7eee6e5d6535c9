#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt::rundir {

/// How the copy of a run's checkpoints elsewhere stands: mirror.json, in its directory.
struct MirrorStatus {
  std::string url;
  std::int64_t newest = -1;  ///< the newest checkpoint that is complete there; -1: none so far
  std::int64_t copied = 0;   ///< checkpoints, in this attempt
  std::int64_t skipped = 0;  ///< because a newer one was there before it was begun
  std::int64_t failed = 0;
  std::string error = {};  ///< of the last that failed
};

/// "checkpoint_000012 at s3://bucket/run/; 12 copied, 3 skipped, 1 failed (why)"
std::string in_words(const MirrorStatus& status);

/// Not durable: it can be missed.
void write_mirror_status(const std::string& run_dir, const MirrorStatus& status);
/// Nothing if there is none that can be read.
std::optional<MirrorStatus> read_mirror_status(const std::string& run_dir);

}  // namespace trainrt::rundir
