#include "cli/tune/tune_slices.hpp"

#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "batch/signals.hpp"
#include "cli/config/load_run_spec.hpp"
#include "cli/start/resolve_train_function.hpp"
#include "comm/agreement.hpp"
#include "comm/backend.hpp"
#include "comm/gpus.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/output/log.hpp"
#include "core/output/redirect_streams.hpp"
#include "core/rank_zero.hpp"
#include "launch/slice_launch.hpp"
#include "rundir/records/owner.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/rank_start.hpp"
#include "tune/run/sweep_run.hpp"
#include "tune/trials/trial_callback.hpp"
#include "watch/crash_report.hpp"

namespace trainrt::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int leader = 0;  // of a slice: finds its trials
const std::string nothing_yet;
const std::string the_end = "end";

std::vector<int> members_of(int rank, int size) {
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), rank / size * size);
  return members;
}

/// The ranks that train one trial. The first of them finds the trials; the others follow it. The ranks of a slice go
/// through the same calls: collective.
class Slice : public tune::TrialRunner {
 public:
  Slice(launch::Launch& whole, Communicator& all, int size)
      : launch_(whole, members_of(all.rank(), size)), communicator_(all.split(all.rank() / size, all.rank())) {
    log::set_rank(launch_.world().rank, launch_.world().size);
  }

  bool is_led_here() const { return communicator_->rank() == leader; }

  // The first rank's.

  int run(const tune::TrialStart& start) override {
    const Json told{{"words", start.words}, {"trial", start.trial}, {"output", start.output}};
    tell(told.dump());
    return static_cast<int>(train(start));
  }
  void idle() override { tell(nothing_yet); }
  /// All ranks of the slice agree on it at a step, as if a signal had come.
  void stop() override {
    if (batch::stop_signal() == 0) batch::request_stop();
  }
  void end() { tell(the_end); }

  // The others'.

  void follow() {
    for (auto told = hear(); told != the_end; told = hear()) {
      if (told == nothing_yet) continue;
      const auto json = Json::parse(told);
      train({json.at("words"), json.at("trial"), json.at("output")});
    }
  }

 private:
  void tell(const std::string& text) { communicator_->broadcast_text(text, leader); }
  std::string hear() { return communicator_->broadcast_text("", leader); }
  ExitCode train(const tune::TrialStart& start);
  ExitCode train_in_order(const tune::TrialStart& start);

  launch::SliceLaunch launch_;
  std::unique_ptr<Communicator> communicator_;
};

/// Ends the whole step if only some ranks of the slice fail, since the others wait for them.
ExitCode Slice::train(const tune::TrialStart& start) {
  const RedirectedStreams output(start.output);
  try {
    return train_in_order(start);
  } catch (const comm::AgreedError& error) {
    log::run_error(error.what());
    return error.code();
  } catch (const Error& error) {
    if (communicator_->size() > 1) {
      static_cast<void>(trainer::end_step(launch_));
      throw;
    }
    log::error(error.what());
    return error.code();
  }
}

ExitCode Slice::train_in_order(const tune::TrialStart& start) {
  auto prepared = trainer::prepared([&] { return load_run_spec(start.words, "tune"); });
  ResolvedFunction training;
  const auto prepare = [&] {
    if (prepared.error) std::rethrow_exception(prepared.error);
    auto& spec = *prepared.spec;
    trainer::require_workers(spec, launch_.world().size);
    training = prepare_train_function(spec);
    training.call.callbacks.push_back(tune::trial_callback(start.trial));
    training.call.has_caller = true;
  };
  comm::collectively(*communicator_, prepare, trainer::with_advice);
  trainer::say_ranks(launch_.world(), *communicator_, train_function_text(*prepared.spec, training.call));
  const auto outcome = trainer::run(*prepared.spec, training.call, launch_, *communicator_);
  log::info(outcome.message);
  return outcome.code;
}

void check_ranks(const tune::Sweep& sweep, int ranks) {
  if (!sweep.common_config().text("train.program").empty())
    throw UsageError(
        "a program's trials are processes of their own, and this is a rank of a step: call trainrt tune once, without srun "
        "or mpiexec in front (jobs/tune.sbatch)");
  if (sweep.workers() > ranks || ranks % sweep.workers() != 0)
    throw UsageError(fmt::format("tune.workers is {}, and {} rank{} launched: start a multiple of it", sweep.workers(),
                                 ranks, ranks == 1 ? " was" : "s were"));
  const int slices = ranks / sweep.workers();
  if (sweep.concurrent() > 0 && sweep.concurrent() < slices)
    throw UsageError(fmt::format("tune.max_concurrent_trials is {}, and {} ranks train {} trials at once: start {}",
                                 sweep.concurrent(), ranks, slices, sweep.concurrent() * sweep.workers()));
}

/// A name that no other step has, of any time.
std::string name_of_step() {
  const auto owner = rundir::this_owner();
  return fmt::format("{}-{}-{}", owner.host, owner.pid, owner.pid_start_time);
}

/// All slices stop with the first that does, so that none waits long for the others at the end.
ExitCode train_slices(const tune::Sweep& sweep, launch::Launch& launch, Communicator& all) {
  const auto stop_file = all.broadcast_text(name_of_step(), 0) + ".stop";
  Slice slice(launch, all, sweep.workers());
  auto number = static_cast<std::int64_t>(ExitCode::finished);
  if (slice.is_led_here()) {
    tune::SweepRun run(sweep);
    number = static_cast<std::int64_t>(run.run_here(slice, stop_file));
    slice.end();
  } else {
    slice.follow();
  }
  all.broadcast(Buffer{&number, 1, DType::i64}, 0, "how the sweep has ended");
  all.barrier("the end of all slices");  // a broadcast's root does not wait: the others may still have to see the file
  RankZero(all.rank()).run([&] { unlink_guarded(sweep.journal() + "/" + stop_file); });
  log::set_rank(launch.world().rank, launch.world().size);
  return static_cast<ExitCode>(number);
}

ExitCode run_on(launch::Launch& launch, const trainer::Prepared& prepared, const std::optional<tune::Sweep>& sweep,
                const SliceSteps& steps) {
  auto communicator = comm::open_communicator(launch, trainer::comm_options_of(prepared));
  batch::install_stop_signals();  // again: MPI_Init takes SIGUSR1
  try {
    const auto check = [&] {
      if (prepared.error) std::rethrow_exception(prepared.error);
      check_ranks(*sweep, launch.world().size);
    };
    comm::collectively(*communicator, check, trainer::with_advice);
    const auto begin = [&] { steps.begin(*sweep, launch.world().size / sweep->workers()); };
    comm::collectively_on_first(*communicator, begin, trainer::with_advice);
    const auto take_gpus = [&] { comm::put_on_gpus(communicator, launch.world(), trainer::comm_options_of(prepared)); };
    comm::collectively(*communicator, take_gpus, trainer::with_advice);
    watch::install_crash_reports();
    const auto code = train_slices(*sweep, launch, *communicator);
    RankZero(launch.world().rank).run([&] { steps.end(*sweep, code); });
    communicator->barrier();
    return code;
  } catch (const comm::AgreedError& error) {
    log::run_error(error.what());
    communicator->barrier();
    return error.code();
  }
}

}  // namespace

ExitCode run_in_slices(const SliceSteps& steps, const Environment& environment) {
  batch::install_stop_signals();
  std::optional<tune::Sweep> sweep;
  const auto prepared = trainer::prepared([&] {
    sweep.emplace(steps.make());
    return config::make_run_spec(sweep->common_config());
  });
  std::unique_ptr<launch::Launch> launch;
  try {
    launch = trainer::find_ranks(environment, trainer::launch_options_of(prepared));
  } catch (const Error& error) {
    // No rank can talk to another: the one that calls itself the first speaks.
    if (launch::claimed_rank(environment) == 0) log::error(trainer::with_advice(error));
    return error.code();
  }
  try {
    const auto code = run_on(*launch, prepared, sweep, steps);
    launch->finalize();
    return code;
  } catch (const std::exception&) {
    return trainer::end_step(*launch);
  }
}

}  // namespace trainrt::cli
