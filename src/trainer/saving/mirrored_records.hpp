#pragma once
#include <optional>
#include <string>

#include "checkpoint/mirrored_run.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

// Functions that read the records of a run from the run's mirror. If a required file is missing, the functions wait for the
// file, since a storage may list new objects late. They throw StorageError after the storage timeout.

/// Returns the content of run.json in the mirror; nullopt if the mirror has no run. Throws UsageError if run.json is
/// damaged, or if the mirror has records of attempts but no run.json: run.json is copied first and removed last, so it
/// cannot be missing in an intact mirror.
std::optional<rundir::RunRecord> mirrored_record(const checkpoint::MirroredRun& mirror);

/// Copies run.json, params.json, trainer.json and result.json into `directory`. Only run.json must exist in the mirror.
void fetch_records(const checkpoint::MirroredRun& mirror, const std::string& directory);

/// Copies the records of the attempts into `directory`/attempts. Logs a warning if the mirror has no records of attempts.
void fetch_attempts(const checkpoint::MirroredRun& mirror, const std::string& directory);

/// Copies result.json into `directory`. Throws UsageError, with `checkpoint` in the message, if result.json does not exist.
void require_reports(const checkpoint::MirroredRun& mirror, const std::string& directory, const std::string& checkpoint);

/// Throws UsageError with the message that result.json in the mirror at `url` lacks the reports of all intact checkpoints.
/// `newest` is the name of the newest intact checkpoint.
[[noreturn]] void refuse_incomplete_reports(const std::string& url, const std::string& newest);

}  // namespace trainrt::trainer
