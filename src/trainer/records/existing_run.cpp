#include "trainer/records/existing_run.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/load/newest_intact.hpp"
#include "checkpoint/save/combined_view.hpp"
#include "comm/agreement.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/completion.hpp"
#include "rundir/attempts/run_evidence.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/records/finished_run.hpp"
#include "trainer/start/global_batch.hpp"

namespace trainrt::trainer {

namespace fs = std::filesystem;

namespace {

void warn_of_accepted(const rundir::CheckedEvidence& checked) {
  const auto newest = checked.evidence.newest_checkpoint();
  log::warning(
      fmt::format("{}. Since run.missing_checkpoints = accept, the run {}", checked.accepted,
                  newest < 0 ? "starts again from its beginning" : "continues from " + checkpoint::directory_name(newest)));
}

/// Returns the status of the run directory for find_existing_run(), without a check of the global batch. Sets `record` to
/// the content of run.json, if this file exists. Called on rank 0.
ExistingRun read_existing_run(const config::RunSpec& spec, const std::string& function,
                              std::optional<rundir::RunRecord>& record) {
  const auto& run_dir = spec.run_dir;
  if (!io::exists(run_dir + "/run.json") && fs::exists(run_dir) && !fs::is_directory(run_dir + "/attempts") &&
      !fs::is_empty(run_dir))
    throw UsageError(run_dir + " exists and is not a run of trainrt: choose another run.name or run.storage_path");
  const auto checked =
      rundir::checked_evidence(spec.run_dir, spec.run.accepts_missing_checkpoints, spec.failure.storage_timeout_s);
  ExistingRun existing;
  existing.accepts_missing = !checked.accepted.empty();
  if (existing.accepts_missing) warn_of_accepted(checked);
  existing.is_new = !checked.evidence.has_run_record && checked.evidence.checkpoints.empty();
  if (checked.evidence.has_run_record) record = rundir::read_seen_run_record(run_dir);
  if (record && record->function != function)
    throw UsageError(
        fmt::format("the run in {} was started with the train function '{}', not '{}': choose another run.name", run_dir,
                    record->function, function));
  existing.is_finished = record && !existing.accepts_missing && has_finished(*record, spec);
  return existing;
}

/// Throws AgreedError if a restart on `ranks` ranks would change the global batch and the config forbids the change.
/// `record` is the content of run.json, used on rank 0 only. Collective.
void refuse_other_global_batch(const config::RunSpec& spec, const std::optional<rundir::RunRecord>& record,
                               Communicator& communicator, int ranks) {
  const auto require = [&] { require_same_global_batch(spec, global_batch(spec, record, ranks)); };
  comm::collectively_on_first(communicator, require, with_advice);
}

/// Completes a finished run, because its last attempt may have been killed at its end: removes the private directory of
/// this attempt, and writes missing combined views of checkpoints. Also removes error.txt, which a later attempt writes
/// if it cannot continue the finished run.
void complete_finished(const std::string& run_dir) try {
  const auto attempts = rundir::read_attempts(run_dir);
  if (attempts.empty() || attempts.back().end.empty()) return;
  rundir::fence_off_older(run_dir, attempts.back().number + 1);
  io::remove_tree(run_dir + "/error.txt");
  checkpoint::MissingViews views(run_dir, io::temporary_beside(checkpoint::view_aside(run_dir)));
  for (const auto& line : views.write_all()) log::warning(line);
} catch (const Error& error) {
  log::warning(std::string("could not remove leftovers of the last attempt: ") + with_advice(error));
}

/// The checkpoint with which a run finished.
struct RecordedEnd {
  std::int64_t checkpoint = -1;  ///< number of the checkpoint; -1 if the run has finished without a checkpoint
  std::string missing;           ///< result of rundir::missing_end(): what is missing; "" if nothing is missing
};

/// Returns the checkpoint with which the run finished, as rank 0 reads it from run.json. Collective.
RecordedEnd recorded_end(const std::string& run_dir, Communicator& communicator) {
  RecordedEnd end;
  const auto read = [&] {
    const auto record = rundir::read_seen_run_record(run_dir);
    const auto completion = rundir::completion_of(run_dir, record);
    end.checkpoint = completion ? completion->checkpoint : -1;
    end.missing = rundir::missing_end(run_dir, record);
  };
  comm::collectively_on_first(communicator, read, with_advice);
  communicator.broadcast(Buffer{&end.checkpoint, 1, DType::i64}, 0, "checkpoint that completed the run");
  end.missing = communicator.broadcast_text(end.missing, 0);
  return end;
}

std::string damage_of_end(const std::string& run_dir, std::int64_t checkpoint, Communicator& communicator) try {
  return join(checkpoint::find_damage(run_dir, checkpoint, communicator));
} catch (const Error& error) {
  throw comm::AgreedError(with_advice(error), error.code());
}

}  // namespace

bool holds_its_end(const std::string& run_dir, Communicator& communicator) {
  const auto end = recorded_end(run_dir, communicator);
  auto flaw = end.missing;
  if (flaw.empty() && end.checkpoint >= 0)
    if (const auto damage = damage_of_end(run_dir, end.checkpoint, communicator); !damage.empty())
      flaw = "the last checkpoint of the finished run is damaged: " + damage;
  if (flaw.empty()) return true;
  log::run_warning(flaw + ". The run is not finished: it continues from the newest intact checkpoint");
  return false;
}

ExistingRun find_existing_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator,
                              int ranks) {
  ExistingRun existing;
  std::optional<rundir::RunRecord> record;  // rank 0's
  const auto read = [&] { existing = read_existing_run(spec, function, record); };
  comm::collectively_on_first(communicator, read, with_advice);
  std::array<std::int64_t, 2> found = {existing.is_new, existing.is_finished};
  communicator.broadcast(Buffer{found.data(), found.size(), DType::i64}, 0, "status of the run directory");
  existing.is_new = found[0] != 0;
  existing.is_finished = found[1] != 0;
  if (!existing.is_finished && ranks > 0) refuse_other_global_batch(spec, record, communicator, ranks);
  return existing;
}

bool stays_finished(const config::RunSpec& spec, Communicator& communicator) {
  if (holds_its_end(spec.run_dir, communicator)) {
    RankZero(communicator.rank()).run([&] {
      warn_of_changed_code(rundir::read_seen_run_record(spec.run_dir), spec,
                           fmt::format("the run '{}' finished", spec.run.name));
      complete_finished(spec.run_dir);
    });
    return true;
  }
  std::optional<rundir::RunRecord> record;  // rank 0's
  const auto read = [&] { record = rundir::read_seen_run_record(spec.run_dir); };
  comm::collectively_on_first(communicator, read, with_advice);
  refuse_other_global_batch(spec, record, communicator, communicator.size());
  return false;
}

}  // namespace trainrt::trainer
