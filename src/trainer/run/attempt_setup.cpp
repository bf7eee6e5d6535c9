#include "trainer/run/attempt_setup.hpp"

#include <array>

#include "comm/agreement.hpp"
#include "core/rank_zero.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/records/same_bits.hpp"
#include "trainer/saving/mirror_restore.hpp"
#include "trainer/start/node_names.hpp"

namespace trainrt::trainer {

namespace {

void watch_start(const RunArguments& run, AttemptSetup& setup) {
  const auto& failure = run.spec.failure;
  setup.start_watch.emplace(run.launch,
                            watch::StartTimes{failure.hang_timeout, failure.launch_timeout_s, failure.storage_timeout_s});
}

/// Determines the nodes and the resources of the ranks, and calls check_same_bits(). Collective.
void check_resources(const RunArguments& run, AttemptSetup& setup) {
  const auto& world = run.launch.world();
  setup.nodes = node_names(world, run.communicator);
  setup.resources = gather_resources(world, run.communicator);
  set_cpu_share_of_process(setup.resources.share_of(world.rank));
  const auto check = [&] { check_same_bits(run.spec, setup.resources, hosts_of_ranks(world, setup.nodes)); };
  comm::collectively_on_first(run.communicator, check, with_advice);
}

/// Creates the AttemptRecorder and, if the config has a mirror, the CheckpointMirror in `setup`. Called on rank 0.
void open_records(const RunArguments& run, rundir::Meter& meter, AttemptSetup& setup) {
  setup.records =
      std::make_unique<AttemptRecorder>(run.spec, run.function.name, run.communicator.size(), setup.nodes, meter,
                                        setup.found.existing.accepts_missing, bit_facts_of(setup.resources));
  if (run.spec.checkpoint.mirror.empty()) return;
  // A newer attempt removes the private directory of this attempt, so a successful write shows that this attempt owns the
  // run.
  const auto require_owned = [&files = setup.records->files()] { files.write_temporary("unfinished_uploads", ""); };
  setup.mirror = std::make_unique<CheckpointMirror>(run.spec, require_owned);
}

/// Sends the values that rank 0 has read from the run directory to all ranks. Collective.
void share_values(AttemptSetup& setup, rundir::Meter& meter, Communicator& communicator) {
  std::array<std::int64_t, 8> numbers{};
  auto& listed = setup.earlier.listed;
  if (setup.records) {
    const auto& records = *setup.records;
    const auto& callbacks = setup.callbacks.presence();
    listed = records.checkpoints();
    numbers = {records.number(), records.workers(),   records.next_checkpoint(), static_cast<std::int64_t>(listed.size()),
               callbacks.any,    callbacks.all_ranks, callbacks.may_stop,        !meter.is_silent()};
  }
  communicator.broadcast(Buffer{numbers.data(), numbers.size(), DType::i64}, 0, "number of the attempt");
  setup.number = static_cast<int>(numbers[0]);
  setup.workers = static_cast<int>(numbers[1]);
  setup.earlier.next = numbers[2];
  setup.callbacks.set_presence({numbers[4] != 0, numbers[5] != 0, numbers[6] != 0});
  if (numbers[7] != 0) meter.note_reporting_run();
  listed.resize(static_cast<std::size_t>(numbers[3]));
  setup.run_id = communicator.broadcast_text(setup.records ? setup.records->run_id() : "", 0);
  if (!listed.empty())
    communicator.broadcast(Buffer{listed.data(), listed.size(), DType::i64}, 0, "numbers of existing checkpoints");
}

}  // namespace

bool find_unfinished_run(const RunArguments& run, AttemptSetup& setup) {
  const auto restore = [&] {
    restore_from_mirror(run.spec, run.communicator);
    watch_start(run, setup);
  };
  setup.found = prepare_run(run.spec, run.function.name, run.communicator, run.communicator.size(), restore);
  if (!setup.found.existing.is_finished) return true;
  setup.start_watch.reset();  // reading or copying a checkpoint may take long
  if (stays_finished(run.spec, run.communicator)) {
    mirror_finished_run(run.spec, run.communicator);
    return false;
  }
  watch_start(run, setup);
  return true;
}

void claim_run(const RunArguments& run, rundir::Meter& meter, AttemptSetup& setup) {
  const auto& spec = run.spec;
  check_resources(run, setup);
  rundir::make_run_directory(spec.run_dir, spec.failure.storage_timeout_s, run.communicator, with_advice);
  const RankZero rank_zero(run.communicator.rank());
  const auto claim = [&] {
    rank_zero.run([&] { rundir::require_progress(spec.run_dir, spec.failure.max_no_progress); });
    setup.callbacks = Callbacks(spec, run.function.callbacks, run.communicator.rank());
    rank_zero.run([&] {
      if (run.function.may_be_silent && rundir::has_reporting_attempt(spec.run_dir)) meter.note_reporting_run();
      open_records(run, meter, setup);
    });
  };
  comm::collectively(run.communicator, claim, with_advice);
  share_values(setup, meter, run.communicator);
  setup.shares = share_datasets(spec, setup.found.datasets, run.launch.world(), run.communicator);
}

}  // namespace trainrt::trainer
