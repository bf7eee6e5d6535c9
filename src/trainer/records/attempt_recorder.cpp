#include "trainer/records/attempt_recorder.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "config/renamed_keys.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "io/storage_retry.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/records/finished_run.hpp"
#include "trainer/start/code_files.hpp"
#include "trainer/start/global_batch.hpp"

namespace trainrt::trainer {

namespace {

/// Returns a value in one line, shortened, for a message.
std::string quoted_or_unset(const std::string& value) {
  constexpr std::size_t max_shown = 80;
  return value.empty() ? "not set" : "'" + excerpt(join(words_in(value, '\n'), " "), max_shown) + "'";
}

/// Returns "data.NAME." for a key of a dataset; "" for other keys.
std::string dataset_prefix(const std::string& key) {
  constexpr std::string_view section = "data.";
  const auto end = key.find('.', section.size());
  return key.starts_with(section) && end != std::string::npos ? key.substr(0, end + 1) : "";
}

/// Returns whether `change` only records the first value of a key, so that it needs no message. This happens in a run
/// that a program opens: earlier attempts may have ended before the program opened the run or the dataset. `before` is
/// the record of these attempts.
bool is_first_value(const config::RunSpec& spec, const rundir::RunRecord& before, const rundir::RunRecord::Change& change) {
  if (!spec.run.is_opened_by_program || !change.from.empty()) return false;
  if (!before.opened_by_program) return true;
  const auto prefix = dataset_prefix(change.key);
  const auto first = before.spec.lower_bound(prefix);
  return !prefix.empty() && (first == before.spec.end() || !first->first.starts_with(prefix));
}

void log_changed_batch(const config::RunSpec& spec, const GlobalBatch& batch, int attempt) {
  log::info(fmt::format("the global batch was {} and is {} from attempt {} on, so the bits of the results change",
                        in_words(spec, batch.before), in_words(spec, batch.now), attempt));
}

}  // namespace

AttemptRecorder::AttemptRecorder(const config::RunSpec& spec, const std::string& function, int ranks,
                                 std::vector<std::string> nodes, rundir::Meter& meter, bool accepts_missing,
                                 rundir::BitFacts bits)
    : spec_(spec), meter_(meter), attempt_(spec.run_dir, ranks, std::move(nodes), meter, accepts_missing, std::move(bits)) {
  check_evidence();
  begin_record(function, ranks);
  io::retried([&] {
    files().remove("error.txt");
  });  // error.txt of an earlier attempt; the record of that attempt also has the error
  rundir::remove_leftovers(spec.run_dir);
}

void AttemptRecorder::check_evidence() try {
  evidence_ =
      rundir::checked_evidence(spec_.run_dir, spec_.run.accepts_missing_checkpoints, spec_.failure.storage_timeout_s)
          .evidence;
} catch (const Error& error) {
  attempt_.end("failed: " + with_advice(error), static_cast<int>(error.code()), 0);
  throw;
}

std::int64_t AttemptRecorder::next_checkpoint() const {
  return checkpoint::number_after(std::max(evidence_.newest_checkpoint(), evidence_.newest_known), evidence_.run_dir);
}

void AttemptRecorder::begin_record(const std::string& function, int ranks) {
  if (!evidence_.has_run_record)
    log::info("a new run in " + spec_.run_dir);
  else if (evidence_.checkpoints.empty())
    log::info(fmt::format("attempt {} of the run in {}{}", attempt_.number(), spec_.run_dir,
                          spec_.failure.recovery == config::Recovery::live ? "" : "; trainrt has no saved state of it"));
  std::optional<rundir::RunRecord> existing;
  if (evidence_.has_run_record) existing = rundir::read_seen_run_record(spec_.run_dir);
  if (existing) existing->spec = config::with_new_names(existing->spec);
  batch_ = global_batch(spec_, existing, ranks);
  if (spec_.scaling.on_resize() == config::OnResize::keep_global_batch) workers_ = batch_.now;
  if (existing) accept_program_of_fit(*existing, spec_);
  const bool may_be_refused = existing && !evidence_.checkpoints.empty();
  record_ = existing ? std::move(*existing) : rundir::new_run_record(spec_.run.name, function, recorded_texts(spec_));
  if (may_be_refused)
    set_state(rundir::RunState::running);
  else
    accept_config(false);
  if (workers_ > 0 && workers_ != ranks)
    log::info(fmt::format("elastic: {} share the global batches of {} workers, so the bits of the results change",
                          counted(ranks, "rank"), workers_));
}

void AttemptRecorder::accept_config(bool is_resumed) {
  if (is_accepted_) return;
  is_accepted_ = true;
  const auto texts = recorded_texts(spec_);
  // A resumed run has the seed of its checkpoint, since a start with another seed is refused. The record may have another
  // seed, since older versions of trainrt recorded the seed of refused starts.
  if (const auto seed = texts.rest.find("run.seed"); is_resumed && seed != texts.rest.end())
    record_.spec["run.seed"] = seed->second;
  for (const auto& change : rundir::take_changes(record_, texts, attempt_.number()))
    if (!is_first_value(spec_, record_, change))
      log::info(fmt::format("{} was {} and is {} from attempt {} on", change.key, quoted_or_unset(change.from),
                            quoted_or_unset(change.to), change.attempt));
  record_.spec = spec_.texts;
  record_.code = code_files(spec_);
  record_.workers = batch_.now;
  record_.opened_by_program = spec_.run.is_opened_by_program;
  if (batch_.changes()) log_changed_batch(spec_, batch_, attempt_.number());
  set_state(rundir::RunState::running);
  if (!has_values_of_trainer(record_))  // for a Python Trainer, the worker of rank 0 writes params.json
    io::retried([&] { files().replace("params.json", rundir::loop_as_json(record_)); });
}

void AttemptRecorder::end(rundir::RunState state, const std::string& why, ExitCode code, std::int64_t step,
                          const std::string& blamed_node) {
  if (state == rundir::RunState::finished) accept_config(false);  // the train function has not restored anything
  attempt_.end(why, static_cast<int>(code), step, blamed_node);
  set_state(state, state == rundir::RunState::finished ? newest_saved() : std::nullopt);
}

void AttemptRecorder::fail(const comm::AgreedError& error, std::int64_t step) try {
  attempt_.set_mistake(error.mistake);
  if (!remains_finished()) files().create("error.txt", printable_text(utc_now() + " " + error.what() + "\n"));
  end(rundir::RunState::failed, std::string("failed: ") + error.what(), error.code(), step);
} catch (const Error& second) {
  log::error(std::string("the failure could not be recorded: ") + with_advice(second));
}

/// Returns the last checkpoint that this attempt committed, or else the checkpoint that this attempt restored; nullopt
/// if there is no such checkpoint.
std::optional<rundir::RunRecord::Completion> AttemptRecorder::newest_saved() const {
  const auto now = meter_.read();
  if (now.saved_checkpoint < 0) return std::nullopt;
  return rundir::RunRecord::Completion{now.saved_checkpoint, now.saved_step, now.saved_iteration};
}

void AttemptRecorder::set_state(rundir::RunState state, const std::optional<rundir::RunRecord::Completion>& completed_by) {
  if (remains_finished()) return;
  record_.state = state;
  record_.completed_by = completed_by;
  rundir::write_run_record(files(), record_);
}

}  // namespace trainrt::trainer
