#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainrt::rundir {

/// The newest checkpoint that an attempt committed or began from, according to its record or heartbeat.
struct SavedPoint {
  int attempt = 0;
  std::int64_t checkpoint = -1;  ///< number; -1: unknown (older records)
  std::int64_t step = 0;
  std::int64_t iteration = -1;
};

/// The files in a run directory that show its progress, which must agree with each other.
///
/// A checkpoint is removed only after a newer one is committed, records are never removed, and run.json is written after
/// the first record. Files that contradict this show that a directory listing is empty, outdated or truncated.
struct RunEvidence {
  std::string run_dir;
  bool has_run_record = false;            ///< run.json exists
  bool has_attempts = false;              ///< at least one attempt has a record, readable or not
  std::optional<SavedPoint> saved;        ///< newest checkpoint according to the records
  std::int64_t newest_known = -1;         ///< number of the newest checkpoint in any record, even if it no longer counts
  std::vector<std::int64_t> checkpoints;  ///< numbers of all listed checkpoints, damaged ones included, ascending
  std::optional<SavedPoint> newest;       ///< newest listed checkpoint by its manifest, if `saved` has no number

  std::int64_t newest_checkpoint() const { return checkpoints.empty() ? -1 : checkpoints.back(); }
};

/// Reads the evidence; the records first, so that a running run does not look inconsistent. Missing files are not errors.
/// Throws StorageError.
RunEvidence gather_evidence(const std::string& run_dir);

/// Returns the contradiction in the evidence: "attempt 2 had saved checkpoint_000005 (step 56), but ..."; "" if it is
/// consistent. Pure function.
std::string contradiction_in(const RunEvidence& evidence);

/// Throws CheckpointsMissing, which describes the contradiction, its consequence for the run, and what to do.
[[noreturn]] void refuse_contradiction(const RunEvidence& evidence, const std::string& contradiction);

/// The result of checked_evidence().
struct CheckedEvidence {
  RunEvidence evidence;
  std::string accepted;  ///< the contradiction that the user has accepted; "" if the evidence is consistent
};
/// Reads the evidence again and again for up to `limit_s` seconds, while it contradicts itself. Throws CheckpointsMissing
/// if it still does, unless `accepts_missing`. Changes no files.
CheckedEvidence checked_evidence(const std::string& run_dir, bool accepts_missing, double limit_s);

}  // namespace trainrt::rundir
