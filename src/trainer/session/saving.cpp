#include "trainer/session/saving.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/save/agree.hpp"
#include "comm/agreement.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "rundir/records/point_words.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/saving/storage_full.hpp"

namespace trainrt::trainer {

using comm::AgreedError;
using watch::InPhase;
using watch::Phase;

Saving::Saving(const Parts& parts)
    : parts_(parts),
      run_metadata_(parts.attempt.metadata),
      metadata_(parts.attempt.metadata),
      replicas_(parts.spec, parts.communicator),
      cycle_({.spec = parts.spec,
              .attempt = parts.attempt,
              .reporter = parts.observation.reporter(),
              .stop_margin = parts.stops.margin(),
              .life = parts.progress.life(),
              .replicas = replicas_},
             parts.world, parts.communicator) {}

// --- the attached State -----------------------------------------------------------------------------------------------

void Saving::attach(const State& user, StateKind kind) {
  if (is_attached())
    throw UsageError(
        "restore() was called twice; a run has only one State, which the first call has attached. Call restore() once");
  kind_ = kind;
  has_values_ = !user.values().empty();
  state_.append(user);
  parts_.progress.attach(state_);
  parts_.stops.attach(state_);
  parts_.datasets.attach(state_);
}

checkpoint::Covers Saving::covers() const {
  return kind_ == StateKind::directories ? checkpoint::Covers::part : checkpoint::Covers::all;
}

void Saving::warn_if_unattached() {
  if (is_attached() || std::exchange(has_warned_, true)) return;
  log::run_warning(
      "the train function did not call ctx.restore(state): "
      "checkpoints cannot be saved, and a stopped run starts again at step 0");
}

void Saving::begin_from(const Restored& restored) {
  if (const auto& from = restored.checkpoint) {
    cycle_.begin_from(*from, restored.is_of_this_run);
    has_warned_of_different_files_ =
        restored.is_of_this_run &&
        io::exists(from->directory + "/" + checkpoint::files_folder + "/" + checkpoint::other_ranks_folder);
    if (from->has_files && kind_ == StateKind::empty_state) kind_ = StateKind::directories;
  }
  cycle_.know_as_damaged(restored.damaged);
}

void Saving::prepare() {
  cycle_.prepare(state_);
  replicas_.begin(state_, parts_.progress.step());
}

// --- metadata ---------------------------------------------------------------------------------------------------------

void Saving::add_run_metadata(const std::string& json) {
  run_metadata_ = checkpoint::merged_metadata(run_metadata_, json);
  metadata_ = run_metadata_;
}

void Saving::set_metadata(std::string_view json) {
  checkpoint::check_metadata(json);
  const std::string given(json);
  metadata_ = run_metadata_ == "{}" ? given : checkpoint::merged_metadata(run_metadata_, given);
}

// --- saves ------------------------------------------------------------------------------------------------------------

ReportedCheckpoint Saving::gather(const DirectoryCheckpoint* mine) try {
  const rundir::Meter::Stall stall(parts_.attempt.meter);
  const InPhase saving(parts_.progress.life(), Phase::checkpoint);
  if (!is_attached()) {  // the train function has not called restore(), so the run starts again at step 0
    attach({}, StateKind::empty_state);
    replicas_.begin(state_, parts_.progress.step());
  }
  if (kind_ == StateKind::empty_state) kind_ = StateKind::directories;
  auto given = mine != nullptr ? *mine : DirectoryCheckpoint{};
  given.same_files = parts_.spec.checkpoint.same_files.value_or(given.same_files);
  std::optional<State> state;
  comm::collectively(parts_.communicator, [&] { state = with_runtime_values(given); });  // `given` may differ between ranks
  auto files = checkpoint::gather_directories(given, state_, parts_.communicator, with_advice);
  if (!files.difference.empty() && !std::exchange(has_warned_of_different_files_, true))
    log::run_warning(files.difference +
                     ". files/ of the checkpoint has the file of the lowest rank, "
                     "and files/.other_ranks/RANK/ has the others. Include the rank in the name, "
                     "or report the file on one rank only; checkpoint.same_files = error ends the run instead");
  return {std::move(files), std::move(state)};
} catch (const checkpoint::FilesDiffer& error) {
  throw AgreedError(with_advice(error), error.code());
} catch (const Error& error) {
  throw AgreedError(error.what(), error.code());
}

/// Returns the State that was passed to report(), with the runtime's values added; nullopt if report() got no State.
std::optional<State> Saving::with_runtime_values(const DirectoryCheckpoint& given) const {
  if (given.state == nullptr) return std::nullopt;
  if (kind_ != StateKind::directories)
    throw UsageError(
        "report() was given a State for its checkpoint, but restore(state) has attached a State for all checkpoints. "
        "Use only one of the two");
  std::optional<State> state(state_);
  state->append(*given.state);
  return state;
}

CheckpointCycle::Content Saving::content(const ReportedCheckpoint* reported) const {
  return {.state = reported != nullptr && reported->state ? *reported->state : state_,
          .point = parts_.progress.point(),
          .metrics = parts_.observation.last_metrics(),
          .metadata = metadata_,
          .reported_files = reported != nullptr ? &reported->files : nullptr,
          .iteration_s = parts_.progress.iteration_s()};
}

void Saving::start(const ReportedCheckpoint* reported) try {
  const SpeedWatch::InWork at(parts_.observation.speeds(), watch::Work::save);
  cycle_.start(content(reported));
} catch (const checkpoint::DirectoryFileUnreadable& error) {
  throw AgreedError(error.what(), error.code());
}

void Saving::wait() {
  const InPhase saving(parts_.progress.life(), Phase::checkpoint);
  cycle_.finish();
}

void Saving::save_and_wait() {
  if (kind_ == StateKind::directories) return wait();
  if (cycle_.save_and_wait(content())) return;
  const auto text = fmt::format(
      "save(): the checkpoint of {} could not be written: {}. "
      "Make room on the storage, or repair it, and run the same command again; the run resumes from {}",
      rundir::short_point(parts_.progress.step(), parts_.progress.iteration()), cycle_.last_error(),
      cycle_.newest_in_words());
  if (cycle_.is_storage_full()) throw StorageFull(text);
  throw AgreedError(text);
}

void Saving::save_at_stop(batch::StopCause cause) {
  if (kind_ == StateKind::directories) return wait();
  for (const int pause_s : {0, 1, 3}) {  // a fault that passes within seconds must not prevent the last save
    std::this_thread::sleep_for(std::chrono::seconds(pause_s));
    if (!is_attached() || loses_nothing()) break;
    auto last = content();
    last.at_stop = cause != batch::ended_early;
    if (cycle_.save_and_wait(last)) break;
  }
}

void Saving::outdate() {
  cycle_.finish();  // a checkpoint in flight does not contain the changed state either
  cycle_.outdate();
}

const State& Saving::state_at_rest() {
  cycle_.finish_writes();
  return state_;
}

void Saving::compare_replicas_if_due() {
  const auto step = parts_.progress.step();
  if (!replicas_.is_due_at(step)) return;
  const rundir::Meter::Stall stall(parts_.attempt.meter);
  const SpeedWatch::InWork at(parts_.observation.speeds(), watch::Work::save);
  const InPhase comparing(parts_.progress.life(), Phase::checkpoint);
  cycle_.finish();  // a save in flight may still read the memory that bring_up_to_date() writes
  state_.bring_up_to_date();
  replicas_.compare_all(step);
}

void Saving::compare_first_values() {
  constexpr int max_comparisons = 3;
  if (!has_values_ || !saves_state() || parts_.communicator.size() == 1 || value_comparisons_ == max_comparisons) return;
  ++value_comparisons_;
  const auto different = checkpoint::different_values(state_, parts_.communicator);
  if (different.empty()) return;
  value_comparisons_ = max_comparisons;  // warns once
  log::run_warning(
      fmt::format("State differs between the ranks at step {}, so a stop at this step could not save the State: {}",
                  parts_.progress.step(), different));
}

void Saving::finish() {
  cycle_.finish();
  if (!saves_state() || is_saved()) return;
  const auto& [iteration, step] = parts_.progress.point();
  const auto& saved = cycle_.saved_point();
  const auto at = rundir::short_point(step, iteration);
  const auto lost = saved.step == step && saved.iteration >= 0
                        ? fmt::format("the last checkpoint is of report {}, not of report {}", saved.iteration, iteration)
                        : fmt::format("the work since {} is lost", cycle_.newest_in_words());
  if (parts_.spec.train.program.empty())
    log::run_warning(fmt::format(
        "the train function returned at {} without saving: {}. Call ctx.save() at the end of the function", at, lost));
  else
    log::run_warning(fmt::format(
        "the program ended at {} without saving: {}. Call trainrt.context().save() at the end of the program", at, lost));
}

void Saving::settle() {
  cycle_.finish();
  comm::collectively(
      parts_.communicator, [&] { drain(); }, with_advice);
}

// --- status -----------------------------------------------------------------------------------------------------------

bool Saving::loses_nothing() const {
  return !parts_.progress.has_begun() || is_saved() || parts_.attempt.meter.is_silent();
}

std::optional<CheckpointPlace> Saving::newest() const {
  const auto& newest = cycle_.newest_committed();
  if (!newest) return std::nullopt;
  return CheckpointPlace{newest->number, newest->directory, newest->has_files};
}

std::string Saving::continues_from() const {
  if (kind_ != StateKind::directories) return "";
  const auto& newest = cycle_.newest_committed();
  if (!newest) return "its beginning, since no report has passed a directory";
  return fmt::format("{} (iteration {})", checkpoint::directory_name(newest->number), newest->point.iteration);
}

}  // namespace trainrt::trainer
