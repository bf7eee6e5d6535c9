#include "rundir/attempts/run_evidence.hpp"

#include <ranges>
#include <utility>

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

/// May pass, like storage that is away.
class Contradiction : public Error {
 public:
  using Error::Error;
};

bool is_contradiction(const std::exception& error) { return dynamic_cast<const Contradiction*>(&error) != nullptr; }

/// From the newest attempt whose record has it: each began with what those before it had saved.
void take_saved(RunEvidence& evidence, const std::vector<int>& numbers) {
  bool counts = true;
  for (const int number : std::views::reverse(numbers)) {
    auto record = read_record(evidence.run_dir, number);
    if (!record) continue;
    io::retried([&] { take_heartbeat(*record, evidence.run_dir); });
    if (record->saved_step >= 0) {
      evidence.newest_known = record->saved_checkpoint;
      if (counts)
        evidence.saved = SavedPoint{number, record->saved_checkpoint, record->saved_step, record->saved_iteration};
      return;
    }
    counts = counts && !record->accepted_missing;
  }
}

/// nullopt if it is damaged: then a load says so.
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
  const auto where = evidence.checkpoints.empty()
                         ? std::string("begin this run anew, at step 0,")
                         : "go on from " + checkpoint::directory_name(evidence.newest_checkpoint());
  throw CheckpointsMissing(
      fmt::format("{}. To start now would {} and drop what came after; nothing has been changed. If the storage is not "
                  "well, start the same command again later; if files were moved away, bring them back",
                  contradiction, where),
      evidence.run_dir, evidence.newest_checkpoint());
}

CheckedEvidence checked_evidence(const std::string& run_dir, bool accepts_missing, double limit_s) {
  CheckedEvidence checked;
  const auto look = [&] {
    checked.evidence = gather_evidence(run_dir);
    const auto text = contradiction_in(checked.evidence);
    if (!text.empty()) throw Contradiction(text);
  };
  RetryLimits limits;
  limits.limit_s = limit_s;
  limits.notify = log::warning;
  try {
    retry("storage", look, is_contradiction, limits);
  } catch (const Contradiction& contradiction) {
    if (!accepts_missing) refuse_contradiction(checked.evidence, contradiction.what());
    checked.accepted = contradiction.what();
  }
  return checked;
}

}  // namespace trainrt::rundir
