#include "cli/tune/tune_slices.hpp"

#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "batch/signals.hpp"
#include "cli/start/load_run_spec.hpp"
#include "cli/start/resolve_train_function.hpp"
#include "comm/agreement.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/output/log.hpp"
#include "core/output/redirect_streams.hpp"
#include "core/rank_zero.hpp"
#include "launch/slice_launch.hpp"
#include "rundir/records/owner.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/rank_command.hpp"
#include "trainer/start/rank_start.hpp"
#include "tune/record/trial_workers.hpp"
#include "tune/run/sweep_run.hpp"
#include "tune/trials/trial_callback.hpp"

namespace trainrt::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int leader_rank = 0;  // within a slice
// Messages that the leader sends instead of a trial, which it sends as JSON:
const std::string no_trial_yet;
const std::string no_more_trials = "end";

std::vector<int> members_of(int rank, int size) {
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), rank / size * size);
  return members;
}

/// A group of ranks that train one trial after another. The leader selects the trials and sends them to its followers. All
/// functions except is_leader() and stop() are collective over the slice.
class Slice : public tune::TrialRunner {
 public:
  Slice(launch::Launch& step, Communicator& all, int size)
      : launch_(step, members_of(all.rank(), size)), communicator_(all.split(all.rank() / size, all.rank())) {
    log::set_rank(launch_.world().rank, launch_.world().size);
  }

  bool is_leader() const { return communicator_->rank() == leader_rank; }

  // These functions are called by the leader:

  int run(const tune::TrialStart& start) override {
    send(Json{{"words", start.words}, {"trial", start.trial}, {"output", start.output}}.dump());
    return static_cast<int>(train(start));
  }
  void idle() override { send(no_trial_yet); }
  /// Stops all ranks of the slice at the same step, as a stop signal does.
  void stop() override {
    if (batch::stop_signal() == 0) batch::request_stop();
  }
  void end() { send(no_more_trials); }

  // These functions are called by the followers:

  /// Trains the trials that the leader sends, until the leader calls end().
  void follow() {
    for (auto message = receive(); message != no_more_trials; message = receive()) {
      if (message == no_trial_yet) continue;
      const auto json = Json::parse(message);
      train({json.at("words"), json.at("trial"), json.at("output")});
    }
  }

 private:
  void send(const std::string& message) { communicator_->broadcast_text(message, leader_rank); }
  std::string receive() { return communicator_->broadcast_text("", leader_rank); }
  ExitCode train(const tune::TrialStart& start);
  trainer::RunOutcome run_trial(const tune::TrialStart& start);

  launch::SliceLaunch launch_;
  std::unique_ptr<Communicator> communicator_;
};

/// Trains one trial. If only some ranks of the slice fail, ends the job step, because the other ranks wait for them.
ExitCode Slice::train(const tune::TrialStart& start) {
  const RedirectedStreams output(start.output);
  try {
    const auto outcome = run_trial(start);
    log::info(outcome.message);
    return outcome.code;
  } catch (const comm::AgreedError& error) {
    log::run_error(error.what());
    return error.code();
  } catch (const Error& error) {
    if (communicator_->size() > 1) {
      static_cast<void>(trainer::abort_step(launch_));
      throw;
    }
    log::error(error.what());
    return error.code();
  }
}

trainer::RunOutcome Slice::run_trial(const tune::TrialStart& start) {
  auto config = trainer::load_config([&] { return load_run_spec(start.words, "tune"); });
  ResolvedFunction training;
  const auto prepare = [&] {
    trainer::require_workers(*config.spec, launch_.world().size);
    training = prepare_train_function(*config.spec);
    training.call.callbacks.push_back(tune::trial_callback(start.trial));
    training.call.has_caller = true;
  };
  trainer::agree_on_config(config, *communicator_, prepare);
  trainer::log_ranks(launch_.world(), *communicator_, train_function_text(*config.spec, training.call));
  return trainer::run(*config.spec, training.call, launch_, *communicator_);
}

/// Throws UsageError unless `ranks` ranks can be divided into the slices that the sweep's config requests.
void require_slices(const tune::Sweep& sweep, int ranks) {
  if (!sweep.common_config().text("train.program").empty())
    throw UsageError(
        "trials of a program cannot run in a job step, because each trial starts its own processes: run trainrt tune once, "
        "without srun or mpiexec (jobs/tune.sbatch)");
  if (tune::sets_workers(sweep.space()))
    throw UsageError(
        fmt::format("[tune.space] sets {}, so that trials have different numbers of ranks, but slices have a fixed number "
                    "of ranks: run trainrt tune once, without srun or mpiexec (jobs/tune.sbatch)",
                    tune::workers_key));
  if (sweep.max_workers() > ranks || ranks % sweep.max_workers() != 0)
    throw UsageError(fmt::format("tune.workers = {}, but {} rank{} launched: start a multiple of {} ranks",
                                 sweep.max_workers(), ranks, ranks == 1 ? " was" : "s were", sweep.max_workers()));
  const int slices = ranks / sweep.max_workers();
  if (sweep.concurrent() > 0 && sweep.concurrent() < slices)
    throw UsageError(
        fmt::format("tune.max_concurrent_trials = {}, but {} ranks run {} trials at the same time: start {} "
                    "ranks",
                    sweep.concurrent(), ranks, slices, sweep.concurrent() * sweep.max_workers()));
}

/// Returns a name that differs from the names of all other job steps, including earlier ones.
std::string name_of_step() {
  const auto owner = rundir::this_owner();
  return fmt::format("{}-{}-{}", owner.host, owner.pid, owner.pid_start_time);
}

struct SweepOutcome {
  ExitCode code;      ///< the same on all ranks
  std::string error;  ///< on leaders: SweepRun::error()
};

/// Trains the trials of the sweep on this rank's slice. When the first slice stops, all other slices are stopped, too,
/// so that no slice waits long at the end.
SweepOutcome train_slices(const tune::Sweep& sweep, launch::Launch& launch, Communicator& all) {
  const auto stop_file = all.broadcast_text(name_of_step(), 0) + ".stop";
  Slice slice(launch, all, sweep.max_workers());
  auto code = static_cast<std::int64_t>(ExitCode::finished);
  std::string error;
  if (slice.is_leader()) {
    tune::SweepRun run(sweep);
    code = static_cast<std::int64_t>(run.run_here(slice, stop_file));
    error = run.error();
    slice.end();
  } else {
    slice.follow();
  }
  all.broadcast(Buffer{&code, 1, DType::i64}, 0, "exit code of the sweep");
  all.barrier("end of all slices");  // a broadcast does not block its root, and other slices may still read the file
  RankZero(all.rank()).run([&] { unlink_guarded(sweep.journal() + "/" + stop_file); });
  log::set_rank(launch.world().rank, launch.world().size);
  return {static_cast<ExitCode>(code), error};
}

class SliceCommand final : public trainer::RankCommand {
 public:
  explicit SliceCommand(const SweepSteps& steps) : steps_(steps) {}

  config::RunSpec load_config() override {
    sweep_.emplace(steps_.load());
    return config::make_run_spec(sweep_->common_config());
  }

  void prepare(config::RunSpec& /*spec*/, const World& world) override { require_slices(*sweep_, world.size); }

  std::string description(const config::RunSpec& /*spec*/) const override {
    return fmt::format("trials on {} rank{} each", sweep_->max_workers(), sweep_->max_workers() == 1 ? "" : "s");
  }

  ExitCode execute(const config::RunSpec& /*spec*/, launch::Launch& launch, Communicator& communicator) override {
    const auto begin = [&] { steps_.begin(*sweep_, communicator.size() / sweep_->max_workers()); };
    comm::collectively_on_first(communicator, begin, trainer::with_advice);
    const auto outcome = train_slices(*sweep_, launch, communicator);
    RankZero(communicator.rank()).run([&] { steps_.end(*sweep_, outcome.code, outcome.error); });
    return outcome.code;
  }

 private:
  const SweepSteps& steps_;
  std::optional<tune::Sweep> sweep_;
};

}  // namespace

ExitCode run_in_slices(const SweepSteps& steps, const Environment& environment) {
  SliceCommand command(steps);
  return trainer::execute_on_ranks(command, environment);
}

}  // namespace trainrt::cli
