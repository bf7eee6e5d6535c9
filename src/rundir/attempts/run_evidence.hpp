#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainrt::rundir {

/// What an attempt's record or heartbeat says of the newest checkpoint that it committed, or began from.
struct SavedPoint {
  int attempt = 0;
  std::int64_t checkpoint = -1;  ///< its number; -1: not known (an older record)
  std::int64_t step = 0;
  std::int64_t iteration = -1;
};

/// What a run directory shows of the run in it. Its parts confirm each other: checkpoints are removed only when a newer
/// one is committed, records never, and run.json comes after the first record. A listing that is empty, old or cut short
/// is found by that.
struct RunEvidence {
  std::string run_dir;
  bool has_run_record = false;  ///< run.json
  bool has_attempts = false;    ///< at least one record of an attempt, readable or not
  std::optional<SavedPoint> saved;
  std::int64_t newest_known = -1;         ///< number of the newest checkpoint of any record, also if that counts no more
  std::vector<std::int64_t> checkpoints;  ///< numbers of all that are listed, damaged ones too, ascending
  std::optional<SavedPoint> newest;       ///< by its manifest, if `saved` has no number and the manifest can be read

  std::int64_t newest_checkpoint() const { return checkpoints.empty() ? -1 : checkpoints.back(); }
};

/// Reads it: the records first, so that a run that goes on meanwhile does not look inconsistent. Throws StorageError; what
/// is not there counts as that.
RunEvidence gather_evidence(const std::string& run_dir);

/// What in the evidence cannot be: "attempt 2 saved checkpoint_000005 (step 56), but ..."; "" if nothing. Pure.
std::string contradiction_in(const RunEvidence& evidence);

/// Throws CheckpointsMissing: what `contradiction` means for the run, and what to do.
[[noreturn]] void refuse_contradiction(const RunEvidence& evidence, const std::string& contradiction);

/// Evidence that a start may rest on.
struct CheckedEvidence {
  RunEvidence evidence;
  std::string accepted;  ///< the contradiction that `accepts_missing` passes over; "" = there is none
};
/// Reads the evidence, for so long again as it contradicts itself, and refuses it then unless `accepts_missing`. Changes
/// nothing.
CheckedEvidence checked_evidence(const std::string& run_dir, bool accepts_missing, double limit_s);

}  // namespace trainrt::rundir
