#include "cli/supervise/local_run.hpp"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "batch/restart_decision.hpp"
#include "batch/signal_queue.hpp"
#include "cli/start/process_limits.hpp"
#include "cli/start/recovery_text.hpp"
#include "cli/supervise/copies_file.hpp"
#include "cli/supervise/restart_message.hpp"
#include "cli/supervise/standby_ranks.hpp"
#include "cli/supervise/supervised_run.hpp"
#include "config/run_name.hpp"
#include "core/descriptor.hpp"
#include "core/output/log.hpp"
#include "core/process/program_input.hpp"
#include "core/text/text.hpp"
#include "launch/rank_group.hpp"
#include "program/children/script.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/storage/opened_run.hpp"

namespace trainrt::cli {

namespace {

/// Returns the exit code of this process. The caller expects exit codes of trainrt, so every other code, for example
/// after a signal, becomes 70.
ExitCode exit_code_of(const launch::GroupEnd& end) {
  for (const auto code : {ExitCode::finished, ExitCode::usage, ExitCode::stopped, ExitCode::no_progress})
    if (end.exit_code == static_cast<int>(code)) return code;
  return ExitCode::failed;
}

/// Returns a description of resource limits that may have ended ranks before they could report an error.
std::string low_limits_text() {
  const auto low = limits_too_low(own_limits());
  return low.empty() ? "" : "; limits of this shell that may be too low: " + join(low);
}

/// Supervises the ranks of one run on this node.
class LocalRun {
 public:
  LocalRun(const config::RunSpec& spec, int ranks, std::vector<std::string> command)
      : run_(spec), ranks_(ranks), command_(std::move(command)), copies_(spec, 1), standby_([this] {
          return start_ranks(launch::RankGroup::Start::as_standby);
        }) {}

  ExitCode run() {
    log_recovery(run_.config(), {.nodes = 1, .no_standby = reads_input() ? "the program reads standard input" : ""});
    const auto code = run_until_end();
    // The next start of this command supervises the run of the config again, not the run that the program has opened.
    if (!run_.is_of_other_start()) rundir::forget_opened_run(run_.config().run_dir);
    return code;
  }

 private:
  ExitCode run_until_end() {
    for (;;) {
      const auto end = run_ranks();
      const auto decision = decide_after(end);
      if (decision.limit == batch::RestartDecision::Limit::max_failures &&
          decision.action == batch::RestartDecision::Action::give_up)
        log_give_up();
      if (decision.action != batch::RestartDecision::Action::restart) return exit_code_of(end);
      if (stop_signal_ != 0) return not_restarted(end);
      log::warning(restart_message(decision));
      run_.announce_restart(decision, failures_);
      stop_signal_ = signals_.wait(decision.wait_s);
      if (stop_signal_ == 0) continue;
      run_.retract_restart();
      return ExitCode::stopped;  // all ranks have ended, and everything is saved
    }
  }

  /// Logs how to continue the run after a failure. Called instead of a restart if a stop was requested.
  ExitCode not_restarted(const launch::GroupEnd& end) const {
    log::error(fmt::format("{}; not restarted, since a stop was requested. To continue, run the same command {}{}", how_,
                           config::again(run_.spec().run), next_start()));
    return exit_code_of(end);
  }

  std::unique_ptr<launch::RankGroup> start_ranks(launch::RankGroup::Start start) {
    const auto& train = run_.config().train;
    const Descriptor input(train.program.empty() ? -1 : input_.open());
    const auto& failure = run_.spec().failure;
    launch::GroupLimits limits{failure.launch_timeout_s, failure.collective_timeout_s};
    limits.has_copies = [this] { return copies_.is_in_use(); };
    const launch::GroupInput input_of_ranks{input.get(), program::reads_script_from_input(train.command)};
    return std::make_unique<launch::RankGroup>(command_, ranks_, limits, input_of_ranks, start);
  }

  /// Lets the standby begin, or starts ranks if there is no standby.
  std::unique_ptr<launch::RankGroup> begin_ranks() {
    run_.begin_start(failures_);
    copies_.begin_start();
    auto group = standby_.take();
    if (!group) return start_ranks(launch::RankGroup::Start::at_once);
    group->begin();
    return group;
  }

  bool reads_input() const { return !run_.config().train.program.empty() && input_.kind() != InputKind::none; }

  /// Returns whether a standby would shorten a restart. Always false for a program that reads standard input: a standby
  /// would take this input away from the running program (ProgramInput::open()).
  bool needs_standby() const { return !reads_input() && stop_signal_ == 0 && copies_.is_in_use(); }

  /// Starts the ranks, and forwards stop signals to them until they have ended.
  launch::GroupEnd run_ranks() {
    const auto group = begin_ranks();
    while (!group->ended()) {
      pollfd waiting{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
      poll(&waiting, 1, 100);
      for (int signal = signals_.take(); signal != 0; signal = signals_.take()) {
        if (signal == SIGCHLD) continue;
        stop_signal_ = signal;
        group->signal(signal);
      }
      if (needs_standby() && group->is_complete()) standby_.keep();
    }
    run_.end_start();
    killed_rank_ = group->killed_rank();
    return group->end();
  }

  batch::RestartDecision decide_after(const launch::GroupEnd& end) {
    how_ = record_end(end);
    failures_ += run_.restarts_by_ranks() + (end.exit_code == 0 ? 0 : 1);
    count_failure_without_copy();
    const auto repeated = run_.repeated_mistake();
    batch::Situation situation{.exit_code = end.exit_code,
                               .how = how_,
                               .failures = failures_,
                               .silent = run_.is_silent(),
                               .permanent = run_.is_permanent() || !repeated.empty(),
                               .restarts_at_once = restarts_at_once()};
    if (has_copied_) situation.failures_for_pause = failures_without_copy_;
    if (end.exit_code == static_cast<int>(ExitCode::stopped)) situation.ending = batch::JobEnding::cancelled;
    const auto decision = batch::decide(situation, {.max_failures = run_.spec().failure.max_failures});
    const bool is_given_up =
        decision.limit == batch::RestartDecision::Limit::max_failures;  // log_give_up() reports the end
    if (!repeated.empty() && decision.action == batch::RestartDecision::Action::give_up && !is_given_up)
      log::error(fmt::format("{}. Fix the error and run the same command {}{}", repeated, config::again(run_.spec().run),
                             next_start()));
    return decision;
  }

  /// Counts the failures in succession in which no copy of the State was made.
  void count_failure_without_copy() {
    failures_without_copy_ = copies_.is_in_use() ? 0 : failures_without_copy_ + 1;
    has_copied_ = has_copied_ || copies_.is_in_use();
  }

  /// Returns whether a restart needs no pause. After an attempt with a copy of its State, one failure without a copy
  /// needs no pause, either: it may be a second kill, and not an error of the run.
  bool restarts_at_once() const { return has_copied_ && failures_without_copy_ <= 1; }

  /// If the attempt was killed before it recorded its end, records this end. If another rank has recorded an end, adds
  /// the kill to it. Returns a phrase for messages that describes how the ranks ended, without an error that a rank has
  /// already logged.
  std::string record_end(const launch::GroupEnd& end) {
    is_error_logged_ = false;
    const bool is_signal = end.exit_code > 128 && end.exit_code <= 128 + SIGRTMAX;
    const auto why = is_signal ? fmt::format("killed: signal {} ended rank {}", end.exit_code - 128, end.rank)
                               : fmt::format("failed: rank {} exited with {}", end.rank, end.exit_code);
    const auto attempt = run_.is_of_other_start() ? std::nullopt : run_.begun_attempt();
    if (!attempt) return why + " before an attempt had begun" + (end.exit_code == 0 ? "" : low_limits_text());
    if (!attempt->end.empty() && killed_rank_ >= 0) {  // another rank has recorded the consequence of the kill
      const auto cause = fmt::format("rank {} was ended by SIGKILL", killed_rank_);
      record([&] { rundir::append_cause(run_.spec().run_dir, attempt->number, cause); }, attempt->number);
      return fmt::format("attempt {}: {}", attempt->number, cause);
    }
    is_error_logged_ = !attempt->end.empty();
    if (is_error_logged_) return fmt::format("attempt {} failed", attempt->number);
    record([&] { rundir::close_attempt(run_.spec().run_dir, attempt->number, why, end.exit_code); }, attempt->number);
    return fmt::format("attempt {}: {}", attempt->number, why);
  }

  /// Calls `write`, which writes how attempt `number` ended. An error is only logged: if the storage is full, the decision
  /// after the attempt does not depend on the record.
  static void record(const std::function<void()>& write, int number) try { write(); } catch (const std::exception& error) {
    log::warning(fmt::format("cannot record how attempt {} ended: {}", number, error.what()));
  }

  void log_give_up() const {
    log::error(fmt::format("given up after {} (failure.max_failures = {}){}. Fix the problem and run the same command {}{}",
                           counted(failures_, "failure"), run_.spec().failure.max_failures,
                           is_error_logged_ ? "" : ": " + how_, config::again(run_.spec().run), next_start()));
  }

  const char* next_start() const {
    return run_.is_silent()        ? ""
           : run_.has_checkpoint() ? "; the run then resumes from its last checkpoint"
                                   : "; the run then starts from the beginning, since it has no checkpoint";
  }

  SupervisedRun run_;
  int ranks_;
  std::vector<std::string> command_;
  batch::SignalQueue signals_;
  ProgramInput input_;
  std::string how_;               ///< how the last attempt ended
  bool is_error_logged_ = false;  ///< whether a rank has logged the error of the last attempt
  int failures_ = 0;
  int stop_signal_ = 0;
  CopiesFile copies_;
  bool has_copied_ = false;  ///< whether an attempt has made a copy of its State
  int failures_without_copy_ = 0;
  StandbyRanks standby_;
  int killed_rank_ = -1;  ///< RankGroup::killed_rank() of the last attempt
};

}  // namespace

ExitCode run_on_this_node(const config::RunSpec& spec, int ranks, const std::vector<std::string>& words) {
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string(), "run"};
  command.insert(command.end(), words.begin(), words.end());
  // Restarted ranks must inherit a generated run name, because it contains the time of the first start.
  if (spec.run.is_name_default) setenv(config::run_name_variable, spec.run.name.c_str(), 1);
  return LocalRun(spec, ranks, std::move(command)).run();
}

}  // namespace trainrt::cli
