#include "trainer/run/run.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "batch/lease.hpp"
#include "comm/agreement.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/process/processes.hpp"
#include "core/restart_help.hpp"
#include "data/section/open_dataset.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/storage/fence_watch.hpp"
#include "rundir/storage/guarded_run.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/ending/ending.hpp"
#include "trainer/events/callback_kind.hpp"
#include "trainer/records/attempt_recorder.hpp"
#include "trainer/run/attempt_setup.hpp"
#include "trainer/run/failure.hpp"
#include "trainer/run/failure_notice.hpp"
#include "trainer/run/hang_setup.hpp"
#include "trainer/run/restarts.hpp"
#include "trainer/run/train_function_call.hpp"
#include "trainer/saving/save_schedule.hpp"
#include "trainer/saving/storage_full.hpp"
#include "trainer/session/session.hpp"
#include "trainer/start/node_names.hpp"
#include "watch/crash_report.hpp"

namespace trainrt::trainer {

namespace {

/// Returns the time at which this attempt began, by monotonic_seconds(). The first attempt of a process began when the
/// process started.
double attempt_start_s() {
  static std::atomic<bool> is_first = true;
  return monotonic_seconds() - (is_first.exchange(false) ? seconds_since_process_start() : 0);
}

RunningAttempt running_attempt(const RunArguments& run, const AttemptSetup& setup) {
  return {.spec = run.spec,
          .number = setup.number,
          .files = {run.spec.run_dir, rundir::private_directory(run.spec.run_dir, setup.number)},
          .there_before = setup.found.there_before,
          .callbacks = setup.callbacks,
          .is_new = setup.found.existing.is_new,
          .has_caller = run.function.has_caller};
}

AttemptInfo attempt_info(const RunArguments& run, AttemptSetup& setup, rundir::Meter& meter, const batch::Lease& lease,
                         const std::string& private_dir) {
  const bool is_rank_zero = setup.records != nullptr;
  return {.number = setup.number,
          .run_id = setup.run_id,
          .private_dir = private_dir,
          .meter = meter,
          .callbacks = setup.callbacks,
          .earlier = setup.earlier,
          .history = is_rank_zero ? failure_history(run.spec) : FailureHistory{},
          .lease = is_rank_zero ? &lease : nullptr,
          .metadata = run.function.metadata,
          .bits = bit_facts_of(setup.resources),
          .workers = setup.workers,
          .datasets = std::move(setup.found.datasets),
          .shares = std::move(setup.shares),
          .hosts = hosts_of_ranks(run.launch.world(), setup.nodes),
          .framework = run.function.framework,
          .accept_config =
              [records = setup.records.get()](bool is_resumed) {
                if (records != nullptr) records->accept_config(is_resumed);
              },
          .mirror = setup.mirror.get()};
}

/// Removes the private directory of an attempt that has ended.
void remove_private_directory(const std::string& path) try { io::remove_tree(path); } catch (const Error& error) {
  log::warning("temporary files of this attempt remain until the next attempt removes them: " + with_advice(error));
}

/// Records `error`, a failure of all ranks, and notifies the callbacks. On full storage, throws AgreedError with an exit
/// code that prevents a restart. Collective.
void record_agreed_failure(const comm::AgreedError& error, const RunningAttempt& attempt, AttemptRecorder* records,
                           std::int64_t step, Communicator& communicator) {
  if (attempt.files.is_fenced()) throw comm::AgreedError(fenced_message(attempt.number));
  if (records != nullptr) records->fail(error, step);
  attempt.callbacks.fail({.error = error.what(), .attempt = attempt.number, .step = step});
  if (dynamic_cast<const StorageFull*>(&error) != nullptr)
    throw comm::AgreedError(error.what(), code_without_restart(attempt.spec.run_dir, error.code(), communicator));
}

/// Records the end of an attempt on rank 0, and returns the outcome of the attempt. Collective.
RunOutcome record_end(const Ending& ending, const RunArguments& run, AttemptRecorder* records) {
  const auto conclusion = conclude(ending, run.spec);
  const auto record = [&] {
    if (records == nullptr) return;
    records->end(conclusion.state, conclusion.why, conclusion.code, ending.step, conclusion.blamed_node);
    remove_private_directory(records->files().private_dir());
  };
  comm::collectively(run.communicator, record, with_advice);
  return {conclusion.code, conclusion.message};
}

Ending ending_of(const Session& session, const RunArguments& run, const AttemptSetup& setup) {
  auto ending = session.ending();
  ending.connected = run.function.is_connected && run.function.is_connected();
  ending.has_checkpoint = !setup.earlier.listed.empty();
  ending.supervised = Environment::of_process().has(supervised_variable);
  return ending;
}

/// Calls the train function in a Session that is watched for crashes and hangs, and records the end of the attempt.
/// Collective.
RunOutcome train(const RunArguments& run, AttemptSetup& setup, rundir::Meter& meter, double pause_s) {
  auto* records = setup.records.get();
  // Only rank 0 watches the time limit of the job. The other ranks learn in a vote that the run must stop.
  const auto environment = records != nullptr ? Environment::of_process() : Environment();
  const batch::Lease lease(batch::ask_slurm(environment), batch::ask_slurm_notice(environment));
  const auto attempt = running_attempt(run, setup);
  rundir::FenceWatch fence_watch(attempt.files,
                                 [&run, number = setup.number] { abort_fenced_attempt(number, run.launch); });
  Session session({.spec = run.spec,
                   .world = run.launch.world(),
                   .communicator = run.communicator,
                   .attempt = attempt_info(run, setup, meter, lease, attempt.files.private_dir())});
  std::optional<FailureListener> listener;
  if (records != nullptr && setup.callbacks.presence().any) listener.emplace(attempt.files.private_dir(), setup.callbacks);
  const watch::CrashScope crash_scope(crash_files(attempt, run.communicator.rank()), attempt.number,
                                      run.communicator.rank(), session.life(), end_of_step_after_crash(run.launch));
  const auto hang_watch =
      watch_for_hangs(attempt, run.function, session, run.launch, hosts_of_ranks(run.launch.world(), setup.nodes));
  std::optional<StatusWriter> status_writer(
      std::in_place, status_target(attempt, run.launch.world(), setup.nodes, meter.started_s()), session.life());
  setup.start_watch.reset();
  try {
    call_train_function(run, attempt, session, meter, pause_s);
    fence_watch.stop();  // before rank 0 removes the private directory
    session.close();
    attempt.callbacks.finish(run.spec.run_dir, conclude(ending_of(session, run, setup), run.spec), run.communicator);
  } catch (const comm::AgreedError& error) {
    status_writer.reset();
    record_agreed_failure(error, attempt, records, session.step_count(), run.communicator);
    throw;
  }
  // The StatusWriter must write its last status before rank 0 removes the private directory. It writes nothing afterwards.
  comm::collectively(
      run.communicator, [&] { status_writer.reset(); }, with_advice);
  return record_end(ending_of(session, run, setup), run, records);
}

RunOutcome run_one_attempt(const RunArguments& run, double pause_s) {
  const auto& spec = run.spec;
  const auto guarded = rundir::guarded_run(spec.run.storage_path, spec.run.name);
  // `meter` must be destroyed after `setup`, since a heartbeat thread in `setup` reads it.
  rundir::Meter meter(attempt_start_s(), run.function.may_be_silent, run.function.is_observed, run.function.ready_s);
  AttemptSetup setup;
  if (!find_unfinished_run(run, setup)) return {ExitCode::finished, finished_already_message(spec)};
  claim_run(run, meter, setup);
  auto outcome = train(run, setup, meter, pause_s);
  if (setup.mirror) setup.mirror->finish(outcome.code == ExitCode::finished);
  return outcome;
}

}  // namespace

void check_spec(const config::RunSpec& spec) {
  static_cast<void>(chosen_sinks(spec));
  static_cast<void>(chosen_callbacks(spec));
  for (const auto& [name, options] : spec.data) data::check_options(name, options);
}

RunOutcome run_once(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch,
                    Communicator& communicator) {
  return run_one_attempt({spec, function, launch, communicator}, 0);
}

RunOutcome run(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch, Communicator& communicator) {
  Restarts restarts(spec, communicator);
  for (;;) try {
      return run_one_attempt({spec, function, launch, communicator}, restarts.pause_s());
    } catch (const FailedTogether& failure) {
      restarts.count(failure);
    }
}

}  // namespace trainrt::trainer
