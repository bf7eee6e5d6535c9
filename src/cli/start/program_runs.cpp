#include "cli/start/program_runs.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "config/program_settings.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "program/children/program_failed.hpp"
#include "program/run/program_host.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/storage/opened_run.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/records/existing_run.hpp"
#include "trainer/records/finished_run.hpp"
#include "trainer/records/preparation.hpp"
#include "trainer/run/restarts.hpp"

namespace trainrt::cli {

namespace {

using program::AwaitedRun;

bool has_finished(const config::RunSpec& spec) {
  const auto record = rundir::read_run_record(spec.run_dir);
  return record && trainer::has_finished(*record, spec);
}

/// One that the config names, and that asked for nothing.
bool is_finished_run_of_config(const config::RunSpec& spec) {
  const auto record = rundir::read_run_record(spec.run_dir);
  return record && !record->opened_by_program && trainer::has_finished(*record, spec);
}

void say(const std::vector<config::SettingChange>& changes) {
  for (const auto& change : changes) log::info(config::in_words(change));
}

class ProgramRuns {
 public:
  ProgramRuns(const config::RunSpec& base, const Training& training, launch::Launch& launch, Communicator& communicator,
              const std::function<void(const config::RunSpec&)>& require)
      : base_(base), training_(training), launch_(launch), communicator_(communicator), require_(require) {}

  trainer::RunOutcome run() {
    if (!training_.host->may_open() || has_finished_by_first([&] { return is_finished_run_of_config(base_); }, base_))
      return run_of_config();
    trainer::try_storage(base_, communicator_);  // before hours of a program that opens its run at its end
    trainer::Restarts restarts(base_.failure.max_failures, communicator_);
    for (trainer::RunOutcome last;;) {
      const auto next = next_run();
      if (next.kind == AwaitedRun::Kind::failed) {
        if (auto end = recorded_failure(restarts)) return *end;
        continue;
      }
      if (next.kind == AwaitedRun::Kind::ended) return last;
      if (next.kind == AwaitedRun::Kind::of_config) return run_of_config();
      if (next.kind == AwaitedRun::Kind::stopped) return stopped();
      last = answered(next.request);
      if (last.code != ExitCode::finished || !training_.host->is_between_runs()) return last;
    }
  }

 private:
  trainer::RunOutcome run_of_config() {
    say_name();
    return trainer::run(base_, training_.call, launch_, communicator_);
  }

  void say_name() {
    if (!base_.run.is_name_default || std::exchange(has_said_name_, true)) return;
    log::info(fmt::format("the run is in {}; --run.name={} continues it", base_.run_dir, base_.run.name));
  }

  /// A program failed before it showed which run it needs: an attempt of the config's run records that. Returns nothing if
  /// the programs may start again; they may ask for another run then.
  std::optional<trainer::RunOutcome> recorded_failure(trainer::Restarts& restarts) {
    say_name();
    auto spec = base_;
    spec.failure.max_failures = 0;  // `restarts` counts
    auto call = training_.call;
    std::optional<trainer::FailedTogether> failed;
    call.train = [&](Context& ctx) {
      try {
        training_.call.train(ctx);
      } catch (const trainer::FailedTogether& failure) {
        failed = failure;
        throw;
      }
    };
    try {
      return trainer::run(spec, call, launch_, communicator_);
    } catch (const comm::AgreedError& error) {  // the failure itself, or what came after it
      if (!failed || std::string_view(error.what()) != failed->what()) throw;
    }
    restarts.count(*failed);
    if (is_stopped_within(restarts.pause_s())) return stopped();
    return std::nullopt;
  }

  /// Collective: a stop that is asked for on any rank counts.
  bool is_stopped_within(double seconds) {
    constexpr double look_s = 0.25;
    for (auto looks = std::lround(seconds / look_s); looks > 0; --looks) {
      std::this_thread::sleep_for(std::chrono::duration<double>(look_s));
      if (communicator_.all_reduced(std::int64_t{batch::stop_signal() != 0}, Op::max) != 0) return true;
    }
    return false;
  }

  AwaitedRun next_run() try {
    return training_.host->next_run(known(), communicator_, [] { return batch::stop_signal() != 0; });
  } catch (const UsageError& error) {
    throw comm::AgreedError(trainer::with_advice(error), ExitCode::usage);
  } catch (const Error& error) {
    throw comm::AgreedError(trainer::with_advice(error), error.code());
  }

  trainer::RunOutcome answered(const program::RunRequest& request) {
    config::RunSpec spec;
    std::vector<config::SettingChange> changes;
    const auto open = [&] {
      spec = config::requested_spec(base_, request.settings, request.number, changes);
      require_(spec);
    };
    comm::collectively(communicator_, open, trainer::with_advice);
    const auto look = [&] {
      rundir::record_opened_run(spec.run_dir);
      return has_finished(spec);
    };
    if (has_finished_by_first(look, spec)) {
      training_.host->answer_finished(known(), {spec.run.name, spec.run_dir, true});
      return {ExitCode::finished,
              fmt::format("the run '{}' has finished already. Results: {}", spec.run.name, spec.run_dir)};
    }
    say(changes);
    log::info(fmt::format("the program opens the run '{}' in {}", spec.run.name, spec.run_dir));
    auto outcome = trainer::run(spec, training_.call, launch_, communicator_);
    if (outcome.code == ExitCode::finished && training_.host->is_between_runs()) {
      log::info(outcome.message);
      training_.host->answer_closed();
      outcome.message = fmt::format("the program ended well. The last run is in {}", shell_quoted(spec.run_dir));
    }
    return outcome;
  }

  program::Rendezvous known() const {
    const auto& world = launch_.world();
    return {.rank = world.rank,
            .size = world.size,
            .local_rank = world.local_rank,
            .local_size = world.local_size,
            .node_rank = world.node_rank,
            .gpus = world.gpus,
            .run_name = base_.run.name,
            .run_dir = base_.run_dir};
  }

  /// `look`: as run.json has it.
  bool has_finished_by_first(const std::function<bool()>& look, const config::RunSpec& spec) {
    std::int64_t found = 0;
    comm::collectively_on_first(
        communicator_, [&] { found = look() ? 1 : 0; }, trainer::with_advice);
    communicator_.broadcast(Buffer{&found, 1, DType::i64}, 0, "what there is of the run");
    return found != 0 && trainer::holds_its_end(spec.run_dir, communicator_);
  }

  /// The signal may have come to another rank alone.
  static trainer::RunOutcome stopped() {
    const int signal = batch::stop_signal();
    return {
        ExitCode::stopped,
        fmt::format("stopped by {} while no run of the program's was open; nothing is lost. Run the same command again to "
                    "continue (exit {})",
                    signal == 0 ? "a signal" : batch::signal_name(signal), static_cast<int>(ExitCode::stopped))};
  }

  const config::RunSpec& base_;
  const Training& training_;
  launch::Launch& launch_;
  Communicator& communicator_;
  const std::function<void(const config::RunSpec&)>& require_;
  bool has_said_name_ = false;
};

}  // namespace

trainer::RunOutcome run_programs(const config::RunSpec& spec, const Training& training, launch::Launch& launch,
                                 Communicator& communicator, const std::function<void(const config::RunSpec&)>& require) {
  return ProgramRuns(spec, training, launch, communicator, require).run();
}

program::RequestedRun look_up(const config::RunSpec& base, const program::RunRequest& request) {
  std::vector<config::SettingChange> changes;
  const auto spec = config::requested_spec(base, request.settings, request.number, changes);
  return {spec.run.name, spec.run_dir, has_finished(spec)};
}

}  // namespace trainrt::cli
