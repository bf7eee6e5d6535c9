#include "trainer/run/run.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "batch/lease.hpp"
#include "comm/agreement.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/output_targets.hpp"
#include "core/process/processes.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"
#include "data/section/open_dataset.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/storage/fence_watch.hpp"
#include "rundir/storage/guarded_run.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/ending/ending.hpp"
#include "trainer/events/callback_kind.hpp"
#include "trainer/events/callbacks.hpp"
#include "trainer/records/attempt_recorder.hpp"
#include "trainer/records/existing_run.hpp"
#include "trainer/records/preparation.hpp"
#include "trainer/run/failure.hpp"
#include "trainer/run/failure_notice.hpp"
#include "trainer/run/restarts.hpp"
#include "trainer/run/watches.hpp"
#include "trainer/saving/mirror_restore.hpp"
#include "trainer/saving/save_schedule.hpp"
#include "trainer/session/session.hpp"
#include "watch/crash_report.hpp"
#include "watch/exit_guard.hpp"
#include "watch/start_watch.hpp"
#include "watch/thrown.hpp"

namespace trainrt::trainer {

namespace {

/// What an attempt begins with.
struct Start {
  std::optional<watch::StartWatch> start_watch;  ///< until the train function begins
  Preparation found;
  std::vector<std::string> nodes;
  std::unique_ptr<AttemptRecorder> records;  ///< rank 0's
  int attempt = 0;
  std::string run_id;
  int workers = 0;  ///< of an elastic run
  EarlierCheckpoints earlier;
  NodeShares shares;
  Callbacks callbacks;
  std::unique_ptr<CheckpointMirror> mirror;  ///< rank 0's
  double pause_s = 0;                        ///< before the train function is called, after a failure
};

/// Rank 0's to all.
void share_numbers(Start& start, Communicator& communicator) {
  std::array<std::int64_t, 7> numbers{};
  auto& listed = start.earlier.listed;
  if (start.records) {
    const auto& records = *start.records;
    listed = records.checkpoints();
    numbers = {records.number(),
               records.workers(),
               records.next_checkpoint(),
               static_cast<std::int64_t>(listed.size()),
               start.callbacks.presence().any,
               start.callbacks.presence().all_ranks,
               start.callbacks.presence().may_stop};
  }
  communicator.broadcast(Buffer{numbers.data(), numbers.size(), DType::i64}, 0, "number of the attempt");
  start.attempt = static_cast<int>(numbers[0]);
  start.workers = static_cast<int>(numbers[1]);
  start.earlier.next = numbers[2];
  start.callbacks.set_presence({numbers[4] != 0, numbers[5] != 0, numbers[6] != 0});
  listed.resize(static_cast<std::size_t>(numbers[3]));
  start.run_id = communicator.broadcast_text(start.records ? start.records->run_id() : "", 0);
  if (!listed.empty())
    communicator.broadcast(Buffer{listed.data(), listed.size(), DType::i64}, 0, "checkpoints that are there");
}

/// When this attempt began, by monotonic_seconds(): with the process, if it is the first in it.
double attempt_start_s() {
  static std::atomic<bool> is_first = true;
  return monotonic_seconds() - (is_first.exchange(false) ? seconds_since_process_start() : 0);
}

/// For the start-up benchmark.
void say_when_started() {
  if (Environment::of_process().has("TRAINRT_TIMING"))
    OutputCapture::write(OutputCapture::Stream::error,
                         fmt::format("timing: train_function_started_s={:.3f}\n", seconds_since_process_start()));
}

/// If the train function prints here: leads what it prints to the rank's log, and to the terminal if it is shown there.
void lead_output(std::optional<OutputCapture>& output, const TrainCall& function, const AttemptPlace& place, int rank) {
  if (!function.prints_here) return;
  const auto title = fmt::format("attempt {}, rank {} on {}, process {}", place.attempt, rank, host_name(), getpid());
  output.emplace(output_targets(place.spec.run.shown_output, place.spec.run_dir, rank), title);
}

/// So that the next attempt in these processes finds nothing of this one under way.
void settle_after(const FailedTogether& failure, const AttemptPlace& place, Session& session, launch::Launch& launch) try {
  session.settle();
} catch (const comm::AgreedError& error) {
  throw comm::AgreedError(fmt::format("{}\nand then: {}", failure.what(), error.what()), error.code());
} catch (const std::exception& error) {
  const auto text = fmt::format("{}\nand then: {}", failure.what(), error.what());
  fail_everywhere(place, session, launch, Error(text), text);
}

void call_train_function(const AttemptPlace& place, const TrainCall& function, Session& session, launch::Launch& launch,
                         rundir::Meter& meter, double pause_s) {
  std::optional<OutputCapture> output;
  try {
    if (!function.is_running || !function.is_running())
      session.stop_if_asked();  // asked during the start-up: nothing has begun
    wait_to_restart(pause_s, session);
    place.callbacks.start(
        {place.spec.run.name, place.spec.run_dir, place.attempt, launch.world().size, launch.world().node_count},
        session.communicator());
    session.prepare_datasets();
    Context context(session);
    lead_output(output, function, place, launch.world().rank);
    meter.train_function_began();
    RankZero(launch.world().rank).run(say_when_started);
    const watch::ExitGuard guard(launch);
    function.train(context);
    session.finish();
  } catch (const FailedTogether& failure) {
    settle_after(failure, place, session, launch);
    throw;
  } catch (const comm::AgreedError&) {
    throw;
  } catch (const Error& error) {
    const auto text = with_advice(error);
    fail_everywhere(place, session, launch, Error(text, error.code()), text);
  } catch (const std::exception& error) {
    const auto text = with_advice(error);
    fail_everywhere(place, session, launch, Error(first_line(text)), text);
  } catch (const StopRun&) {
    // ending() says why
  } catch (...) {
    fail_everywhere(
        place, session, launch,
        Error(fmt::format("the train function threw something that is no std::exception: {}", watch::thrown_type())), "");
  }
}

void leave_nothing(const std::string& private_dir) try { io::remove_tree(private_dir); } catch (const Error& error) {
  log::warning(std::string("what this attempt leaves behind is swept by the next: ") + with_advice(error));
}

void record_end(AttemptRecorder& records, const Conclusion& conclusion, std::int64_t step) {
  records.end(conclusion.state, conclusion.why, conclusion.code, step, conclusion.blamed_node);
  leave_nothing(records.files().private_dir());
}

RunOutcome run_attempt(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch,
                       Communicator& communicator, Start& start, rundir::Meter& meter) {
  auto* records = start.records.get();
  // One rank watches the job's time, and the vote tells the others.
  const auto environment = records != nullptr ? Environment::of_process() : Environment();
  const batch::Lease lease(batch::ask_slurm(environment), batch::ask_slurm_notice(environment));
  const AttemptPlace place{spec,
                           start.attempt,
                           {spec.run_dir, rundir::private_directory(spec.run_dir, start.attempt)},
                           start.found.there_before,
                           start.callbacks,
                           start.found.existing.is_new,
                           function.has_caller};
  rundir::FenceWatch fence_watch(place.files, [attempt = start.attempt, &launch] { end_as_fenced(attempt, launch); });
  Session session({.spec = spec,
                   .world = launch.world(),
                   .communicator = communicator,
                   .attempt = {.number = start.attempt,
                               .run_id = start.run_id,
                               .private_dir = place.files.private_dir(),
                               .meter = meter,
                               .callbacks = start.callbacks,
                               .earlier = start.earlier,
                               .history = records != nullptr ? failure_history(spec) : FailureHistory{},
                               .lease = records != nullptr ? &lease : nullptr,
                               .metadata = function.metadata,
                               .workers = start.workers,
                               .datasets = std::move(start.found.datasets),
                               .shares = std::move(start.shares),
                               .hosts = hosts_of_ranks(launch.world(), start.nodes),
                               .framework = function.framework,
                               .mirror = start.mirror.get()}});
  std::optional<FailureListener> listener;
  if (records != nullptr && start.callbacks.presence().any) listener.emplace(place.files.private_dir(), start.callbacks);
  const watch::CrashScope crash_scope(crash_files(place, communicator.rank()), start.attempt, communicator.rank(),
                                      session.life(), end_of_step_after_crash(launch));
  const auto hang_watch = watch_for_hangs(place, function, session, launch, hosts_of_ranks(launch.world(), start.nodes));
  std::optional<StatusWriter> signs(std::in_place, place_of_signs(place, launch.world(), start.nodes, meter.started_s()),
                                    session.life());
  start.start_watch.reset();
  try {
    call_train_function(place, function, session, launch, meter, start.pause_s);
    fence_watch.stop();  // rank 0 removes the private directory once all ranks have closed
    session.close();
    place.callbacks.finish(spec.run_dir, conclude(session.ending(), spec.run_dir), communicator);
  } catch (const comm::AgreedError& error) {
    signs.reset();
    if (place.files.is_fenced()) throw comm::AgreedError(fenced_text(start.attempt));
    if (records != nullptr) records->fail(error, session.step_count());
    place.callbacks.fail({.error = error.what(), .attempt = start.attempt, .step = session.step_count()});
    throw;
  }
  // All ranks, before rank 0 removes the private directory: without that an attempt counts as fenced off, and writes
  // nothing.
  comm::collectively(
      communicator, [&] { signs.reset(); }, with_advice);
  const auto ending = session.ending();
  const auto conclusion = conclude(ending, spec.run_dir);
  const auto end = [&] {
    if (records != nullptr) record_end(*records, conclusion, ending.step);
  };
  comm::collectively(communicator, end, with_advice);
  return {conclusion.code, conclusion.message};
}

RunOutcome begin_and_run(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch,
                         Communicator& communicator, double pause_s) {
  const auto guarded = rundir::guarded_run(spec.run.storage_path, spec.run.name);
  // Before what uses it: the attempt's heartbeats, in `start`.
  rundir::Meter meter(attempt_start_s(), function.may_be_silent, function.is_observed, function.ready_s);
  Start start;
  start.pause_s = pause_s;
  const watch::StartTimes times{spec.failure.hang_timeout, spec.failure.launch_timeout_s, spec.failure.storage_timeout_s};
  const auto bring_back = [&] {
    restore_from_mirror(spec, communicator);
    start.start_watch.emplace(launch, times);
  };
  start.found = prepare_run(spec, function.name, communicator, communicator.size(), bring_back);
  if (start.found.existing.is_finished) {
    start.start_watch.reset();  // to read a checkpoint, or copy it, may take long
    if (stays_finished(spec, communicator)) {
      mirror_finished_run(spec, communicator);
      return {ExitCode::finished, finished_already_message(spec.run.name, spec.run_dir)};
    }
    start.start_watch.emplace(launch, times);
  }
  rundir::make_run_directory(spec.run_dir, spec.failure.storage_timeout_s, communicator, with_advice);
  start.nodes = node_names(launch.world(), communicator);
  const RankZero first(communicator.rank());
  const auto begin = [&] {
    first.run([&] { rundir::require_progress(spec.run_dir, spec.failure.max_no_progress); });
    start.callbacks = Callbacks(spec, function.callbacks, communicator.rank());
    first.run([&] {
      start.records = std::make_unique<AttemptRecorder>(spec, function.name, communicator.size(), start.nodes, meter,
                                                        start.found.existing.accepts_missing);
      if (!spec.checkpoint.mirror.empty())
        // A write proves it: the private directory is gone once a newer attempt has begun.
        start.mirror = std::make_unique<CheckpointMirror>(
            spec, [&files = start.records->files()] { files.write_temporary("unfinished_uploads", ""); });
    });
  };
  comm::collectively(communicator, begin, with_advice);
  share_numbers(start, communicator);
  start.shares = share_datasets(spec, start.found.datasets, launch.world(), communicator);
  auto outcome = run_attempt(spec, function, launch, communicator, start, meter);
  if (start.mirror) start.mirror->finish(outcome.code == ExitCode::finished);
  return outcome;
}

}  // namespace

void check_spec(const config::RunSpec& spec) {
  static_cast<void>(chosen_sinks(spec));
  static_cast<void>(chosen_callbacks(spec));
  for (const auto& [name, options] : spec.data) data::check_options(name, options);
}

RunOutcome run(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch, Communicator& communicator) {
  Restarts restarts(spec.failure.max_failures, communicator);
  for (;;) try {
      return begin_and_run(spec, function, launch, communicator, restarts.pause_s());
    } catch (const FailedTogether& failure) {
      restarts.count(failure);
    }
}

}  // namespace trainrt::trainer
