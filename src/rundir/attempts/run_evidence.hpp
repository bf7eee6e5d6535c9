#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainrt::rundir {

/// The newest checkpoint that an attempt committed, or else the checkpoint with which it began, according to the attempt's
/// record or heartbeat file.
struct SavedPoint {
  int attempt = 0;
  std::int64_t checkpoint = -1;  ///< number of the checkpoint; -1: unknown (records of older versions)
  std::int64_t step = 0;
  std::int64_t iteration = -1;
};

/// The files in a run directory that show the run's progress: run.json, the records of attempts, and the checkpoints. They
/// must be consistent with each other.
///
/// A checkpoint is removed only after a newer one is committed, records are never removed, and run.json is written after
/// the first record. If the files contradict these rules, a directory listing is empty, outdated or incomplete, or files
/// are lost.
struct RunEvidence {
  std::string run_dir;
  bool has_run_record = false;      ///< run.json exists
  bool has_attempts = false;        ///< at least one attempt has a record, which may be unreadable
  std::optional<SavedPoint> saved;  ///< newest checkpoint according to the attempts' records
  std::int64_t newest_known = -1;   ///< number of the newest checkpoint in any record, even if the user accepted its loss
  /// numbers of all checkpoints in the directory listing, including damaged ones, ascending
  std::vector<std::int64_t> checkpoints;
  std::optional<SavedPoint> newest;  ///< newest checkpoint in the directory listing; set only if `saved` has no number

  std::int64_t newest_checkpoint() const { return checkpoints.empty() ? -1 : checkpoints.back(); }
};

/// Reads the files that show a run's progress. The attempts' records are read before the checkpoints are listed, so that a
/// run that is being continued does not seem inconsistent. Missing files are not errors. Throws StorageError.
RunEvidence gather_evidence(const std::string& run_dir);

/// Returns the contradiction between the files of a run: "attempt 2 had saved checkpoint_000005 (step 56), but ...".
/// Returns "" if the files are consistent. Pure function.
std::string contradiction_in(const RunEvidence& evidence);

/// Throws CheckpointsMissing, with a message that describes the contradiction between the files of a run, its consequence
/// for the run, and possible remedies.
[[noreturn]] void refuse_contradiction(const RunEvidence& evidence, const std::string& contradiction);

/// The result of checked_evidence(): the files of a run, and a contradiction between them that the user has accepted.
struct CheckedEvidence {
  RunEvidence evidence;
  std::string accepted;  ///< the contradiction that the user has accepted; "" if the files are consistent
};
/// Reads the files that show a run's progress. If they contradict each other, reads them repeatedly for up to `limit_s`
/// seconds. If the contradiction remains, throws CheckpointsMissing, unless `accepts_missing` is true. Changes no files.
CheckedEvidence checked_evidence(const std::string& run_dir, bool accepts_missing, double limit_s);

}  // namespace trainrt::rundir
