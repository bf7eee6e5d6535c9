#include "trainer/saving/checkpoint_cycle.hpp"

#include <algorithm>
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
#include "rundir/records/point_words.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

namespace {

using Unit = config::CheckpointInterval::Unit;

std::string named(const RunPoint& point) { return "the checkpoint at " + rundir::short_point(point.step, point.iteration); }

checkpoint::SaverOptions saver_options(const config::RunSpec& spec, const World& world, const AttemptInfo& attempt) {
  checkpoint::SaverOptions options;
  options.run_dir = spec.run_dir;
  options.private_dir = attempt.private_dir;
  options.makes_private_dir = false;
  options.file_of_rank = checkpoint::files_of_ranks(spec.checkpoint.layout, world.node_of_rank);
  options.retention = retention_of(spec);
  options.known = {attempt.earlier.listed.begin(), attempt.earlier.listed.end()};
  options.writer.staging_bytes = spec.checkpoint.staging_bytes;
  options.writer.threads = spec.checkpoint.io_threads;
  options.writer.read_back = spec.checkpoint.read_back;
  options.writer.stuck_s = spec.failure.collective_timeout_s;
  options.writer.visible_s = spec.failure.storage_timeout_s;
  options.writer.observer = [](checkpoint::Phase phase) { fault_point(checkpoint::name_of(phase)); };
  options.writer.warn = log::warning;  // marked with the rank, which may be the only one that waits
  options.writer.explain = with_advice;
  options.writer.staging_limit = "checkpoint.staging_limit";
  return options;
}

}  // namespace

checkpoint::Retention retention_of(const config::RunSpec& spec) {
  return {spec.checkpoint.num_to_keep, spec.checkpoint.score_attribute, spec.checkpoint.score_is_maximized};
}

CheckpointCycle::CheckpointCycle(Parts parts, const World& world, Communicator& communicator)
    : parts_(parts),
      communicator_(communicator),
      by_clock_(communicator.rank() == 0 ? parts.spec.checkpoint.every : config::CheckpointInterval{}),
      auto_interval_(parts.attempt.history, world.node_count),
      next_number_(parts.attempt.earlier.next),
      last_start_s_(monotonic_seconds()),
      saver_(saver_options(parts.spec, world, parts.attempt), communicator) {}

void CheckpointCycle::prepare(const State& state) {
  if (parts_.spec.checkpoint.every.unit != Unit::off) saver_.prepare(state);
}

void CheckpointCycle::start(const Content& content) {
  const rundir::Meter::Stall stall(parts_.attempt.meter);
  const watch::InPhase saving(parts_.life, watch::Phase::checkpoint);
  conclude(measured(saver_.finish()));  // one at a time, in order
  checkpoint::Saver::Request request;
  request.meta.number = next_number_++;
  request.meta.iteration = content.point.iteration;
  request.meta.step = content.point.step;
  request.meta.attempt = parts_.attempt.number;
  request.meta.metrics = content.metrics;
  request.meta.metadata = content.metadata;
  request.meta.iteration_s = content.iteration_s;
  request.meta.at_stop = content.at_stop;
  add_files(content.given, request);
  request.before_commit = [this] { parts_.reporter.sync(); };
  request.comparison = parts_.replicas.comparison(content.point.step);
  flying_ = content.point;
  last_start_s_ = monotonic_seconds();
  stalled_before_s_ = parts_.attempt.meter.stalled_s();
  flying_is_reported_ = content.given != nullptr;
  flying_checkpoint_ = {request.meta.number, parts_.spec.run_dir + "/" + checkpoint::directory_name(request.meta.number),
                        request.meta.has_directory, request.meta.metadata, content.point};
  flying_metrics_ = content.metrics;
  conclude(saver_.start(content.state, std::move(request)));
  if (!parts_.spec.checkpoint.async) conclude(measured(saver_.finish()));
}

/// What it finds in another run's checkpoint is that run's, which may delete it.
void CheckpointCycle::add_files(const checkpoint::DirectoryFiles* reported, checkpoint::Saver::Request& request) const {
  auto& meta = request.meta;
  const bool carries = newest_ && newest_->has_files && checkpoint::run_of(newest_->directory) == parts_.spec.run_dir;
  if (reported == nullptr && !carries) return;
  meta.has_directory = true;
  if (reported != nullptr) {
    request.given = *reported;
    meta.metadata = checkpoint::merged_metadata(meta.metadata, reported->metadata);
    meta.validation = reported->validation;
    return;
  }
  request.given.carried_from = newest_->directory;
  meta.metadata = checkpoint::merged_metadata(newest_->metadata, meta.metadata);
}

void CheckpointCycle::advance(const checkpoint::Saver::Progress& of_all) {
  if (!saver_.in_flight()) return;
  const rundir::Meter::Stall stall(parts_.attempt.meter);
  conclude(measured(saver_.advance(of_all)));
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

/// What became of the last checkpoint, the same on all ranks.
void CheckpointCycle::conclude(const std::optional<checkpoint::SaveResult>& result) {
  if (!result) return;
  if (result->committed)
    note_commit();
  else
    note_failure(*result);
}

void CheckpointCycle::note_commit() {
  parts_.stop_margin.note_save(monotonic_seconds() - last_start_s_);
  warn_of_short_notice();
  saved_ = flying_;
  newest_ = flying_checkpoint_;
  parts_.attempt.meter.committed(saved_.step, saved_.iteration, newest_->number);
  failed_in_a_row_ = 0;
  if (parts_.attempt.mirror != nullptr) parts_.attempt.mirror->offer(newest_->number);
  parts_.reporter.update_derived();
  parts_.attempt.callbacks.commit({newest_->number, newest_->directory, newest_->has_files, saved_.iteration, saved_.step,
                                   flying_metrics_, newest_->metadata},
                                  communicator_);
}

void CheckpointCycle::note_failure(const checkpoint::SaveResult& result) {
  if (failed_in_a_row_++ == 0) failing_since_ms_ = result.began_ms;
  const auto text = fmt::format("{} could not be written and is dropped: {}", named(flying_), result.error);
  const double failing_s = static_cast<double>(result.ended_ms - failing_since_ms_) / 1000;
  const bool may_pass = result.is_transient && failing_s < parts_.spec.failure.storage_timeout_s;
  const auto most = parts_.spec.checkpoint.max_failed;
  if (most > 0 && failed_in_a_row_ >= most && !may_pass)
    throw comm::AgreedError(
        fmt::format("{}. That is the {}. in a row (checkpoint.max_failed): mend the storage, and start the "
                    "same command again: the run continues from {}",
                    text, failed_in_a_row_, newest()));
  log::run_warning(text + "; training goes on");
}

void CheckpointCycle::warn_of_short_notice() {
  const auto* lease = parts_.attempt.lease;
  const auto notice = lease != nullptr ? lease->notice() : std::nullopt;
  const auto longest_save = parts_.stop_margin.longest_save();
  if (!notice || longest_save < *notice || std::exchange(notice_warned_, true)) return;
  log::warning(fmt::format(
      "a save takes {:.0f} s, and Slurm kills a preempted job {:.0f} s after its SIGTERM (KillWait and the partition's "
      "GraceTime): such a preemption costs what came after the last checkpoint",
      longest_save, *notice));
}

/// Learns from a save that was not waited for on purpose what one costs.
std::optional<checkpoint::SaveResult> CheckpointCycle::measured(std::optional<checkpoint::SaveResult> result) {
  if (!result || by_clock_.unit != Unit::automatic || flying_is_reported_) return result;
  const auto& meter = parts_.attempt.meter;
  const double now = monotonic_seconds();
  const auto changed =
      auto_interval_.learn(meter.stalled_s() - stalled_before_s_, now - last_start_s_, now - meter.started_s());
  if (changed) log::info(*changed);
  return result;
}

bool CheckpointCycle::is_due_by_clock(bool reported) const {
  if (by_clock_.unit == Unit::seconds) return by_clock_.due_after(monotonic_seconds() - last_start_s_);
  if (by_clock_.unit != Unit::automatic || saver_.in_flight()) return false;
  const double since = std::max(last_start_s_, parts_.attempt.meter.steps_begin_s());
  return auto_interval_.is_due(monotonic_seconds() - since, reported);
}

std::string CheckpointCycle::newest() const {
  return saved_.step < 0 ? "its beginning (there is no checkpoint)"
                         : "its last checkpoint, of " + rundir::short_point(saved_.step, saved_.iteration);
}

}  // namespace trainrt::trainer
