#include "rundir/attempts/run_evidence.hpp"

#include <ranges>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "core/output/log.hpp"
#include "core/retry.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_error.hpp"

namespace trainrt::rundir {

namespace {

/// Error: a run's records and checkpoints contradict each other. A later read may succeed, because the storage may have
/// shown an outdated directory listing.
class Contradiction : public Error {
 public:
  using Error::Error;
};

bool is_contradiction(const std::exception& error) { return dynamic_cast<const Contradiction*>(&error) != nullptr; }

/// Sets the newest saved checkpoint in `evidence`: the checkpoint in the newest record that names one. It does not count if
/// a later attempt was started although checkpoints were missing (AttemptRecord::accepted_missing). `numbers`: numbers of
/// all attempts.
///
/// Older records need not be read, since each attempt begins with the newest checkpoint of earlier attempts.
void take_saved(RunEvidence& evidence, const std::vector<int>& numbers) {
  bool counts = true;
  for (const int number : std::views::reverse(numbers)) {
    auto record = read_record(evidence.run_dir, number);
    if (!record) continue;
    io::retried([&] { merge_heartbeat(*record, evidence.run_dir); });
    if (record->saved_step >= 0) {
      evidence.newest_known = record->saved_checkpoint;
      if (counts)
        evidence.saved = SavedPoint{number, record->saved_checkpoint, record->saved_step, record->saved_iteration};
      return;
    }
    counts = counts && !record->accepted_missing;
  }
}

/// Returns the attempt, step and iteration in the manifest of a checkpoint. Returns nothing if the manifest is damaged; the
/// damage is reported when the checkpoint is loaded.
std::optional<SavedPoint> point_of(const std::string& run_dir, std::int64_t checkpoint) try {
  const auto meta = checkpoint::read_manifest(run_dir + "/" + checkpoint::directory_name(checkpoint)).meta;
  return SavedPoint{meta.attempt, checkpoint, meta.step, meta.iteration};
} catch (const Error&) {
  return std::nullopt;
}

std::string described(const SavedPoint& saved) {
  const auto what = saved.checkpoint < 0 ? "a checkpoint" : checkpoint::directory_name(saved.checkpoint);
  return fmt::format("attempt {} had saved {} ({})", saved.attempt, what, short_point(saved.step, saved.iteration));
}

bool lacks_newest(const RunEvidence& evidence) {
  const auto& saved = *evidence.saved;
  if (saved.checkpoint >= 0) return evidence.newest_checkpoint() < saved.checkpoint;
  const auto& newest = evidence.newest;
  return newest && (newest->step < saved.step || newest->iteration < saved.iteration);
}

}  // namespace

RunEvidence gather_evidence(const std::string& run_dir) {
  RunEvidence evidence;
  evidence.run_dir = run_dir;
  evidence.has_run_record = io::retried([&] { return io::exists(run_dir + "/run.json"); });
  const auto numbers = io::retried([&] { return numbers_of_attempts(run_dir); });
  evidence.has_attempts = !numbers.empty();
  take_saved(evidence, numbers);
  evidence.checkpoints = checkpoint::numbers_in(run_dir);
  if (evidence.saved && evidence.saved->checkpoint < 0 && !evidence.checkpoints.empty())
    evidence.newest = point_of(run_dir, evidence.newest_checkpoint());
  return evidence;
}

std::string contradiction_in(const RunEvidence& evidence) {
  const auto& run_dir = evidence.run_dir;
  if (evidence.has_run_record && !evidence.has_attempts)
    return fmt::format("{} has a run.json, but {}/attempts shows no record of an attempt", run_dir, run_dir);
  if (!evidence.saved) return {};
  if (!evidence.has_run_record) return fmt::format("{}, but {} shows no run.json", described(*evidence.saved), run_dir);
  if (evidence.checkpoints.empty())
    return fmt::format("{}, but {} shows no checkpoint", described(*evidence.saved), run_dir);
  if (lacks_newest(evidence))
    return fmt::format("{}, but the newest that {} shows is {}", described(*evidence.saved), run_dir,
                       checkpoint::directory_name(evidence.newest_checkpoint()));
  return {};
}

void refuse_contradiction(const RunEvidence& evidence, const std::string& contradiction) {
  const auto start = evidence.checkpoints.empty()
                         ? std::string("begin at step 0")
                         : "resume from " + checkpoint::directory_name(evidence.newest_checkpoint());
  throw CheckpointsMissing(
      fmt::format("{}. Starting now would {} and lose all later progress; nothing has been changed. If the storage has a "
                  "problem, run the same command again later; if files were moved away, move them back",
                  contradiction, start));
}

CheckedEvidence checked_evidence(const std::string& run_dir, bool accepts_missing, double limit_s) {
  CheckedEvidence checked;
  const auto check = [&] {
    checked.evidence = gather_evidence(run_dir);
    const auto text = contradiction_in(checked.evidence);
    if (!text.empty()) throw Contradiction(text);
  };
  RetryLimits limits;
  limits.limit_s = limit_s;
  limits.notify = log::warning;
  try {
    retry("storage", check, is_contradiction, limits);
  } catch (const Contradiction& contradiction) {
    if (!accepts_missing) refuse_contradiction(checked.evidence, contradiction.what());
    checked.accepted = contradiction.what();
  }
  return checked;
}

}  // namespace trainrt::rundir
