#include "cli/start/requested_runs.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "batch/lease.hpp"
#include "batch/signals.hpp"
#include "batch/stop_cause.hpp"
#include "comm/agreement.hpp"
#include "config/program_settings.hpp"
#include "config/run_name.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "core/restart_help.hpp"
#include "core/text/text.hpp"
#include "program/run/program_host.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/start_claim.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/storage/opened_run.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/records/existing_run.hpp"
#include "trainer/records/finished_run.hpp"
#include "trainer/records/preparation.hpp"
#include "trainer/run/restarts.hpp"
#include "trainer/stops/stop_reasons.hpp"

namespace trainrt::cli {

namespace {

using program::AwaitedRun;

bool has_finished(const config::RunSpec& spec) {
  const auto record = rundir::read_run_record(spec.run_dir);
  return record && trainer::has_finished(*record, spec);
}

/// Returns whether the run of `spec` has finished, so that its program need not be started again. Returns false if the
/// program itself opened the run, or fit() launched it: then the script must be started again, because it opens the
/// run.
bool is_finished_run_of_config(const config::RunSpec& spec) {
  const auto record = rundir::read_run_record(spec.run_dir);
  return record && !record->opened_by_program && !trainer::was_launched_by_fit(*record) &&
         trainer::has_finished(*record, spec);
}

/// Measures on rank 0, while no run is open, how much time the Slurm job has left.
class JobTime {
 public:
  explicit JobTime(const config::RunSpec& spec)
      : lease_(batch::ask_slurm(Environment::of_process())), margin_(trainer::stop_margin(spec)) {}
  bool is_up() const {
    const auto left = lease_.remaining();
    const auto needed = margin_.seconds(lease_.length());
    return left && needed && *left < *needed;
  }

 private:
  batch::Lease lease_;
  trainer::StopMargin margin_;
};

void log_changes(const std::vector<config::SettingChange>& changes) {
  for (const auto& change : changes) log::info(config::in_words(change));
}

class RequestedRuns {
 public:
  RequestedRuns(const config::RunSpec& base, const ResolvedFunction& function, launch::Launch& launch,
                Communicator& communicator, const std::function<void(const config::RunSpec&)>& require)
      : base_(base), function_(function), launch_(launch), communicator_(communicator), require_(require) {}

  trainer::RunOutcome run() {
    if (!function_.host->may_open()) return run_config();
    if (has_finished_on_first([&] { return is_finished_run_of_config(base_); }, base_)) return open_config();
    trainer::try_storage(base_, communicator_);  // reports bad storage early, because the program may request a run late
    begin_wait();
    trainer::Restarts restarts(base_, communicator_);
    for (trainer::RunOutcome last;;) {
      const auto next = next_run();
      if (next.kind == AwaitedRun::Kind::failed) {
        if (auto outcome = record_failure(restarts)) return *outcome;
        continue;
      }
      if (next.kind == AwaitedRun::Kind::ended) return last;
      if (next.kind == AwaitedRun::Kind::stopped) return stopped();
      last = next.kind == AwaitedRun::Kind::of_config ? closed(run_config(), base_.run_dir) : run_request(next.request);
      if (last.code != ExitCode::finished || !function_.host->is_between_runs()) return last;
    }
  }

 private:
  trainer::RunOutcome run_config() {
    log_run_name();
    return open_config();
  }

  trainer::RunOutcome open_config() { return trainer::run(base_, opening_call(), launch_, communicator_); }

  /// Claims the run of the config on rank 0, before the program starts, and begins to watch the time of the job.
  void begin_wait() {
    const auto begin = [&] {
      claim_.emplace(base_.run_dir);
      job_time_.emplace(base_);
    };
    comm::collectively_on_first(communicator_, begin, trainer::with_advice);
  }

  void end_wait() {
    claim_.reset();
    job_time_.reset();
  }

  /// Returns the call of the train function. The call first ends the wait for a run, because the run is then open and
  /// owned by its attempt.
  trainer::TrainCall opening_call() {
    auto call = function_.call;
    call.train = [this, train = call.train](Context& ctx) {
      end_wait();
      train(ctx);
    };
    return call;
  }

  bool must_stop() const { return batch::stop_signal() != 0 || (job_time_ && job_time_->is_up()); }

  /// Logs once the directory of the config's run, if its name is generated. Called when the program uses this run, since a
  /// program may open a run with a name of its own instead.
  void log_run_name() {
    if (!base_.run.is_name_default || std::exchange(is_name_logged_, true)) return;
    log::info(fmt::format("the run directory is {}; --run.name={} continues the run", base_.run_dir,
                          shell_quoted(base_.run.name)));
  }

  /// Records the failure of a program that has not requested a run, in an attempt of the config's run. Returns nullopt
  /// if the programs may be restarted; they may then request another run.
  std::optional<trainer::RunOutcome> record_failure(trainer::Restarts& restarts) {
    log_run_name();
    try {
      return trainer::run_once(base_, opening_call(), launch_, communicator_);
    } catch (const trainer::FailedTogether& failure) {
      restarts.count(failure);
    }
    begin_wait();
    if (is_stopped_within(restarts.pause_s())) return stopped();
    return std::nullopt;
  }

  /// Waits for `seconds` seconds, or until any rank has received a stop signal. Returns whether a rank has received
  /// one. Collective.
  bool is_stopped_within(double seconds) {
    constexpr double interval_s = 0.25;
    for (auto checks = std::lround(seconds / interval_s); checks > 0; --checks) {
      std::this_thread::sleep_for(std::chrono::duration<double>(interval_s));
      if (communicator_.all_reduced(std::int64_t{batch::stop_signal() != 0}, Op::max) != 0) return true;
    }
    return false;
  }

  AwaitedRun next_run() try {
    return function_.host->next_run(known(), communicator_, [this] { return must_stop(); });
  } catch (const UsageError& error) {
    throw comm::AgreedError(trainer::with_advice(error), ExitCode::usage);
  } catch (const Error& error) {
    throw comm::AgreedError(trainer::with_advice(error), error.code());
  }

  trainer::RunOutcome run_request(const program::RunRequest& request) {
    config::RunSpec spec;
    std::vector<config::SettingChange> changes;
    const auto open = [&] {
      spec = config::requested_spec(base_, request.settings, request.number, changes, request.defaults);
      require_(spec);
    };
    comm::collectively(communicator_, open, trainer::with_advice);
    last_run_ = spec.run;
    const auto check_finished = [&] {
      rundir::record_opened_run(spec.run_dir);
      return has_finished(spec);
    };
    if (has_finished_on_first(check_finished, spec)) {
      function_.host->answer_finished(known(), {spec.run.name, spec.run_dir, true});
      return {ExitCode::finished,
              fmt::format("the run '{}' has finished already. Its results are in {}", spec.run.name, spec.run_dir)};
    }
    log_changes(changes);
    const bool has_default_name = base_.run.is_name_default && spec.run.name == base_.run.name;
    log::info(
        fmt::format("the program opens the run '{}' in {}{}", spec.run.name, spec.run_dir,
                    has_default_name ? fmt::format("; --run.name={} continues it", shell_quoted(spec.run.name)) : ""));
    if (spec.run_dir != base_.run_dir) end_wait();
    return closed(trainer::run(spec, opening_call(), launch_, communicator_), spec.run_dir);
  }

  /// Answers the program if it has closed the finished run in `run_dir` and continues: the program may then open
  /// another run. Returns the outcome of the program.
  trainer::RunOutcome closed(trainer::RunOutcome outcome, const std::string& run_dir) const {
    if (outcome.code == ExitCode::finished && function_.host->is_between_runs()) {
      log::info(outcome.message);
      function_.host->answer_closed();
      outcome.message = fmt::format("the program exited with 0. Its last run is in {}", shell_quoted(run_dir));
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

  /// Returns on all ranks whether the run has finished: `check`, which rank 0 calls to read run.json, must return true,
  /// and all ranks must find the run's last checkpoint. Collective.
  bool has_finished_on_first(const std::function<bool()>& check, const config::RunSpec& spec) {
    std::int64_t finished = 0;
    comm::collectively_on_first(
        communicator_, [&] { finished = check() ? 1 : 0; }, trainer::with_advice);
    communicator_.broadcast(Buffer{&finished, 1, DType::i64}, 0, "whether the run has finished");
    return finished != 0 && trainer::holds_its_end(spec.run_dir, communicator_);
  }

  /// Returns the outcome of a stop while no run is open. The stop signal may have arrived on another rank only.
  trainer::RunOutcome stopped() const {
    RankZero(launch_.world().rank).run([&] { rundir::announce_start(base_.run_dir, std::nullopt); });
    const int signal = batch::stop_signal();
    const auto cause = signal != 0                       ? batch::signal_name(signal)
                       : job_time_ && job_time_->is_up() ? batch::describe(batch::time_is_up)
                                                         : std::string("a signal");
    const bool is_supervised = Environment::of_process().has(supervised_variable);
    return {ExitCode::stopped,
            fmt::format("stopped by {} while the program had no open run; nothing is lost{} (exit {})", cause,
                        is_supervised ? "" : fmt::format(". Run the same command {} to continue", config::again(last_run_)),
                        static_cast<int>(ExitCode::stopped))};
  }

  const config::RunSpec& base_;
  const ResolvedFunction& function_;
  launch::Launch& launch_;
  Communicator& communicator_;
  const std::function<void(const config::RunSpec&)>& require_;
  std::optional<rundir::StartClaim> claim_;  ///< claim of the run of the config; on rank 0, until a run is open
  std::optional<JobTime> job_time_;          ///< on rank 0, until a run is open
  bool is_name_logged_ = false;
  config::RunKeys last_run_;  ///< the last run that the program opened; without a name before the first
};

}  // namespace

trainer::RunOutcome run_requested(const config::RunSpec& spec, const ResolvedFunction& function, launch::Launch& launch,
                                  Communicator& communicator, const std::function<void(const config::RunSpec&)>& require) {
  return RequestedRuns(spec, function, launch, communicator, require).run();
}

program::RequestedRun find_requested_run(const config::RunSpec& base, const program::RunRequest& request) {
  std::vector<config::SettingChange> changes;
  const auto spec = config::requested_spec(base, request.settings, request.number, changes, request.defaults);
  return {spec.run.name, spec.run_dir, has_finished(spec)};
}

}  // namespace trainrt::cli
