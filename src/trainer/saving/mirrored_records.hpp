#pragma once
#include <optional>
#include <string>

#include "checkpoint/mirrored_run.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

// Functions that read the records of a run from its mirror. If a file that must exist is missing, they wait for it, since
// a storage may show new objects late, and throw StorageError after the storage timeout.

/// Returns run.json of the mirror; nothing if the mirror has no run. run.json is the first file that is copied to a mirror
/// and the last that is removed, so the function throws UsageError if attempts have records but run.json is missing, and if
/// it is damaged.
std::optional<rundir::RunRecord> mirrored_record(const checkpoint::MirroredRun& mirror);

/// Copies run.json, params.json and result.json into `directory`. The last two may be missing.
void fetch_records(const checkpoint::MirroredRun& mirror, const std::string& directory);

/// Copies the records of the attempts into `directory`/attempts. Logs a warning if the mirror has no such records.
void fetch_attempts(const checkpoint::MirroredRun& mirror, const std::string& directory);

/// Copies result.json into `directory`. Throws UsageError, which names `checkpoint`, if it does not exist.
void require_reports(const checkpoint::MirroredRun& mirror, const std::string& directory, const std::string& checkpoint);

/// Throws UsageError: result.json in the mirror at `url` lacks the reports of all intact checkpoints. `newest` is the
/// name of the newest of them.
[[noreturn]] void refuse_incomplete_reports(const std::string& url, const std::string& newest);

}  // namespace trainrt::trainer
