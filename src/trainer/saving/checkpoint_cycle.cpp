#include "trainer/saving/checkpoint_cycle.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/format/names.hpp"
#include "checkpoint/layout.hpp"
#include "checkpoint/save/phases.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/retention.hpp"
#include "comm/agreement.hpp"
#include "core/fault_point.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/process/cpus.hpp"
#include "core/text/text.hpp"
#include "rundir/records/point_words.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/saving/storage_full.hpp"

namespace trainrt::trainer {

namespace {

checkpoint::SaverOptions saver_options(const config::RunSpec& spec, const World& world, const AttemptInfo& attempt) {
  checkpoint::SaverOptions options;
  options.run_dir = spec.run_dir;
  options.private_dir = attempt.private_dir;
  options.makes_private_dir = false;
  options.file_of_rank = checkpoint::files_of_ranks(spec.checkpoint.layout, world.node_of_rank);
  options.retention = retention_of(spec);
  options.known = {attempt.earlier.listed.begin(), attempt.earlier.listed.end()};
  options.writer.staging_bytes = spec.checkpoint.staging_bytes;
  options.writer.threads = threads_of_this_rank(spec.checkpoint.io_threads);
  options.writer.read_back = spec.checkpoint.read_back;
  options.writer.stuck_s = spec.failure.collective_timeout_s;
  options.writer.visible_s = spec.failure.storage_timeout_s;
  options.writer.observer = [](checkpoint::Phase phase) { fault_point(checkpoint::name_of(phase)); };
  options.writer.warn = log::warning;  // log::warning names this rank, since other ranks may not wait
  options.writer.explain = with_advice;
  options.writer.staging_limit = "checkpoint.staging_limit";
  return options;
}

/// Returns the value of config key checkpoint.every on rank 0. On other ranks, returns an interval that is never due by the
/// clock.
config::CheckpointInterval interval_by_clock(const config::RunSpec& spec, int rank) {
  return rank == 0 ? spec.checkpoint.every : config::CheckpointInterval{};
}

}  // namespace

checkpoint::Retention retention_of(const config::RunSpec& spec) {
  return {spec.checkpoint.num_to_keep, spec.checkpoint.score_attribute, spec.checkpoint.score_is_maximized};
}

CheckpointCycle::CheckpointCycle(Parts parts, const World& world, Communicator& communicator)
    : parts_(parts),
      communicator_(communicator),
      schedule_(interval_by_clock(parts.spec, communicator.rank()), parts.attempt.history, world.node_count,
                parts.attempt.meter),
      save_cost_(parts.spec.checkpoint.every),
      next_number_(parts.attempt.earlier.next),
      saver_(saver_options(parts.spec, world, parts.attempt), communicator) {}

void CheckpointCycle::prepare(const State& state) {
  if (parts_.spec.checkpoint.every.unit != config::CheckpointInterval::Unit::off) saver_.prepare(state);
}

void CheckpointCycle::begin_from(const CommittedCheckpoint& checkpoint, bool is_of_this_run) {
  newest_ = checkpoint;
  if (!is_of_this_run) return;
  saved_ = checkpoint.point;
  saver_.restored(checkpoint.number);
}

// --- saves ------------------------------------------------------------------------------------------------------------

void CheckpointCycle::start(const Content& content) {
  const rundir::Meter::Stall stall(parts_.attempt.meter);
  const watch::InPhase saving(parts_.life, watch::Phase::checkpoint);
  learn_and_conclude(saver_.finish());
  auto request = request_of(content);
  const auto& meta = request.meta;
  in_flight_ = {.checkpoint = {.number = meta.number,
                               .directory = parts_.spec.run_dir + "/" + checkpoint::directory_name(meta.number),
                               .has_files = meta.has_directory,
                               .metadata = meta.metadata,
                               .point = content.point},
                .metrics = content.metrics};
  schedule_.begin_save(content.reported_files == nullptr);
  conclude(saver_.start(content.state, std::move(request)));
  if (!parts_.spec.checkpoint.async) learn_and_conclude(saver_.finish());
  const auto warning = save_cost_.note_save(monotonic_seconds(), parts_.attempt.meter.stalled_s());
  if (warning) log::run_warning(*warning);
}

checkpoint::Saver::Request CheckpointCycle::request_of(const Content& content) {
  checkpoint::Saver::Request request;
  request.meta.number = next_number_++;
  request.meta.iteration = content.point.iteration;
  request.meta.step = content.point.step;
  request.meta.attempt = parts_.attempt.number;
  request.meta.metrics = content.metrics;
  request.meta.metadata = content.metadata;
  if (!parts_.attempt.bits.empty()) request.meta.bits = rundir::to_json(parts_.attempt.bits).dump();
  request.meta.iteration_s = content.iteration_s;
  request.meta.at_stop = content.at_stop;
  add_files(content.reported_files, request);
  request.before_commit = [this] { parts_.reporter.sync(); };
  request.comparison = parts_.replicas.comparison(content.point.step);
  return request;
}

/// Adds the files in `reported` to `request`. If `reported` is nullptr, adds the files of the run's newest checkpoint.
/// Files of another run's checkpoint are not added, since the other run may delete them.
void CheckpointCycle::add_files(const checkpoint::DirectoryFiles* reported, checkpoint::Saver::Request& request) const {
  auto& meta = request.meta;
  if (reported != nullptr) {
    meta.has_directory = true;
    request.given = *reported;
    meta.metadata = checkpoint::merged_metadata(meta.metadata, reported->metadata);
    meta.validation = reported->validation;
  } else if (newest_ && newest_->has_files && checkpoint::run_of(newest_->directory) == parts_.spec.run_dir) {
    meta.has_directory = true;
    request.given.carried_from = newest_->directory;
    meta.metadata = checkpoint::merged_metadata(newest_->metadata, meta.metadata);
  }
}

void CheckpointCycle::advance(const checkpoint::Saver::Progress& of_all) {
  if (!saver_.in_flight()) return;
  const rundir::Meter::Stall stall(parts_.attempt.meter);
  learn_and_conclude(saver_.advance(of_all));
}

void CheckpointCycle::advance() {
  if (!saver_.in_flight()) return;
  const auto mine = saver_.progress();
  const auto over_ranks =
      comm::agree_min_max(communicator_, std::array{mine.sealed, mine.finished}, "progress of the checkpoint");
  advance({.sealed = over_ranks[0].min, .finished = over_ranks[1].max});
}

void CheckpointCycle::finish() {
  const rundir::Meter::Stall stall(parts_.attempt.meter);
  conclude(saver_.finish());
}

bool CheckpointCycle::save_and_wait(const Content& content) {
  const rundir::Meter::Stall stall(parts_.attempt.meter);
  const watch::InPhase saving(parts_.life, watch::Phase::checkpoint);
  finish();
  if (holds(content.point)) return true;
  start(content);
  finish();
  return holds(content.point);
}

// --- results of saves -------------------------------------------------------------------------------------------------

void CheckpointCycle::conclude(const std::optional<checkpoint::SaveResult>& result) {
  if (!result) return;
  if (result->committed)
    note_commit();
  else
    note_failure(*result);
}

void CheckpointCycle::learn_and_conclude(const std::optional<checkpoint::SaveResult>& result) {
  if (result) schedule_.learn();
  conclude(result);
}

void CheckpointCycle::note_commit() {
  parts_.stop_margin.note_save(schedule_.since_begin_s());
  warn_of_short_notice();
  const auto& committed = in_flight_.checkpoint;
  const auto& [iteration, step] = committed.point;
  saved_ = committed.point;
  newest_ = committed;
  failed_in_a_row_ = 0;
  parts_.attempt.meter.committed(step, iteration, committed.number);
  if (parts_.attempt.mirror != nullptr) parts_.attempt.mirror->offer(committed.number);
  parts_.reporter.update_derived();
  parts_.attempt.callbacks.commit(
      {committed.number, committed.directory, committed.has_files, iteration, step, in_flight_.metrics, committed.metadata},
      communicator_);
}

void CheckpointCycle::note_failure(const checkpoint::SaveResult& result) {
  if (failed_in_a_row_++ == 0) failing_since_ms_ = result.began_ms;
  is_full_ = result.is_full;
  last_error_ = result.error;
  const auto& [iteration, step] = in_flight_.checkpoint.point;
  const auto text =
      fmt::format("the checkpoint at {} could not be written and is dropped", rundir::short_point(step, iteration));
  const double failing_s = static_cast<double>(result.ended_ms - failing_since_ms_) / 1000;
  const bool may_pass = result.is_transient && failing_s < parts_.spec.failure.storage_timeout_s;
  const auto max_failed = parts_.spec.checkpoint.max_failed;
  if (max_failed > 0 && failed_in_a_row_ >= max_failed && !may_pass) {
    const auto why = fmt::format("{}: {}. This was failure {} in a row (checkpoint.max_failed = {}). ", text, result.error,
                                 failed_in_a_row_, max_failed);
    if (is_full_)
      throw StorageFull(fmt::format("{}The run is not restarted on full storage. Make room and {}", why, again()));
    throw comm::AgreedError(fmt::format("{}Repair the storage and {}", why, again()));
  }
  const bool is_same = failed_in_a_row_ > 1 && without_numbers(result.error) == last_failure_;
  last_failure_ = without_numbers(result.error);
  log::run_warning(fmt::format("{}{}; training continues", text, is_same ? " for the same reason" : ": " + result.error));
}

/// Returns the end of an error message: how to continue the run.
std::string CheckpointCycle::again() const {
  return fmt::format("run the same command again; the run resumes from {}", newest_in_words());
}

/// Logs a warning, once, if a save takes longer than the time between Slurm's SIGTERM and the kill of a preempted job.
void CheckpointCycle::warn_of_short_notice() {
  const auto* lease = parts_.attempt.lease;
  const auto notice = lease != nullptr ? lease->notice() : std::nullopt;
  const auto save_s = parts_.stop_margin.max_save_s();
  if (!notice || save_s < *notice || std::exchange(has_warned_of_notice_, true)) return;
  log::warning(
      fmt::format("a save takes {:.0f} s, and Slurm kills a preempted job {:.0f} s after its SIGTERM "
                  "(KillWait and the partition's GraceTime): a preemption loses the work since the last checkpoint",
                  save_s, *notice));
}

std::string CheckpointCycle::newest_in_words() const {
  return saved_.step < 0 ? "the beginning, because it has no checkpoint"
                         : "its last checkpoint, of " + rundir::short_point(saved_.step, saved_.iteration);
}

}  // namespace trainrt::trainer
