#include "trainer/saving/restored_records.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "checkpoint/format/names.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/completion.hpp"

namespace trainrt::trainer {

namespace {

/// Returns whether the run in `run_dir` finished with the checkpoint `restored`, according to the run's records. `finished`
/// is the content of run.json.
bool finished_with(const std::string& run_dir, const rundir::RunRecord& finished, const checkpoint::Meta& restored) {
  const rundir::RunRecord::Completion completion{restored.number, restored.step, restored.iteration};
  if (const auto end = rundir::completion_of(run_dir, finished)) return *end == completion;
  const auto attempts = rundir::read_attempts(run_dir, 1);  // for records of older versions
  return !attempts.empty() && attempts.back().why.starts_with("finished");
}

/// Logs a warning if an attempt of the run saved a newer checkpoint than `restored`.
void warn_if_older(const std::string& run_dir, const checkpoint::Meta& restored, const std::string& from) {
  std::int64_t newest = -1;
  for (const auto& attempt : rundir::read_attempts(run_dir)) newest = std::max(newest, attempt.saved_checkpoint);
  if (newest > restored.number)
    log::warning(fmt::format(
        "the run has saved {}, but it cannot be read from {}. The work after {} (iteration {}) is repeated",
        checkpoint::directory_name(newest), from, checkpoint::directory_name(restored.number), restored.iteration));
}

/// Marks a finished run as stopped if it finished with another checkpoint than `restored`: the run must then repeat the
/// work after `restored`.
void reopen_unless_complete(const std::string& run_dir, rundir::RunRecord record, const checkpoint::Meta& restored,
                            const std::string& from) {
  if (record.state != rundir::RunState::finished) return warn_if_older(run_dir, restored, from);
  if (finished_with(run_dir, record, restored)) return;
  const auto end = rundir::completion_of(run_dir, record);
  const auto lost = end ? fmt::format("{} (iteration {})", checkpoint::directory_name(end->checkpoint), end->iteration)
                        : std::string("a checkpoint that its records do not name");
  log::warning(
      fmt::format("the run finished with {}, which cannot be read from {}. "
                  "The run is not finished: it continues from {} (iteration {})",
                  lost, from, checkpoint::directory_name(restored.number), restored.iteration));
  record.state = rundir::RunState::stopped;
  record.completed_by.reset();
  io::replace_file(run_dir + "/run.json", rundir::to_text(record));
}

/// Records an end for each attempt that has no end, and limits the recorded newest checkpoint of each attempt to
/// `restored`.
void end_attempts(const std::string& run_dir, const checkpoint::Meta& restored, const std::string& from) {
  for (const int number : rundir::numbers_of_attempts(run_dir)) {
    auto record = rundir::read_record(run_dir, number);
    if (!record) continue;
    if (record->end.empty()) {
      record->end = utc_now();
      record->why = "killed: its run directory was lost, and restored from " + from;
      record->last_step = std::max(record->last_step, restored.step);
      record->iteration = std::max(record->iteration, restored.iteration);
    }
    if (record->saved_checkpoint > restored.number || record->saved_step > restored.step) {
      record->saved_checkpoint = restored.number;
      record->saved_step = restored.step;
      record->saved_iteration = restored.iteration;
    }
    io::replace_file(rundir::record_path(run_dir, number), rundir::to_text(*record));
  }
}

/// Writes the record of one attempt if no attempt has a record. Without it, a start would refuse the run directory,
/// which has run.json but no records of attempts.
void write_missing_attempt(const std::string& run_dir, const checkpoint::Meta& restored, const std::string& from) {
  if (!rundir::numbers_of_attempts(run_dir).empty()) return;
  rundir::AttemptRecord record;
  record.number = std::max(restored.attempt, 1);
  record.ranks = restored.ranks;
  record.start = record.end = restored.created;
  record.why = "killed: its record was missing in " + from;
  record.last_step = record.saved_step = restored.step;
  record.iteration = record.saved_iteration = restored.iteration;
  record.saved_checkpoint = restored.number;
  io::replace_file(rundir::record_path(run_dir, record.number), rundir::to_text(record));
}

}  // namespace

void fit_records(const std::string& run_dir, const rundir::RunRecord& record, const checkpoint::Meta& restored,
                 const std::string& from) {
  reopen_unless_complete(run_dir, record, restored, from);
  end_attempts(run_dir, restored, from);
  write_missing_attempt(run_dir, restored, from);
}

}  // namespace trainrt::trainer
