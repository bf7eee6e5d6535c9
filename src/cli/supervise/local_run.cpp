#include "cli/supervise/local_run.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "batch/restart_decision.hpp"
#include "batch/signal_queue.hpp"
#include "cli/start/process_limits.hpp"
#include "cli/supervise/watched_run.hpp"
#include "cli/words/verdict_text.hpp"
#include "config/run_name.hpp"
#include "core/output/log.hpp"
#include "core/process/program_input.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "launch/rank_group.hpp"
#include "program/children/script.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/storage/opened_run.hpp"

namespace trainrt::cli {

namespace {

/// Whoever starts this command knows only the exit codes of trainrt: a rank that a signal or MPI ended has failed.
ExitCode exit_code_of(const launch::GroupEnd& end) {
  for (const auto code : {ExitCode::finished, ExitCode::usage, ExitCode::stopped, ExitCode::no_progress})
    if (end.exit_code == static_cast<int>(code)) return code;
  return ExitCode::failed;
}

/// Of ranks that ended before they could say anything: what this shell allows too little of.
std::string limits_in_words() {
  const auto low = limits_too_low(own_limits());
  return low.empty() ? "" : "; limits of this shell that may be too low: " + join(low);
}

class LocalRun {
 public:
  LocalRun(const config::RunSpec& spec, int ranks, std::vector<std::string> command)
      : config_(spec), spec_(watched_run(spec)), ranks_(ranks), command_(std::move(command)) {}

  ExitCode run() {
    let_ranks_tell_run(config_);
    for (;;) {
      auto before = last_number();
      const auto end = attempt();
      const auto then = std::exchange(spec_, watched_run(config_));
      before = number_before(then, before, spec_);
      const auto verdict = batch::decide(situation_of(end, before), {.max_failures = spec_.failure.max_failures});
      if (verdict.limit == batch::RestartDecision::Limit::max_failures &&
          verdict.action == batch::RestartDecision::Action::give_up)
        give_up();
      if (verdict.action != batch::RestartDecision::Action::restart || stop_signal_ != 0) return exit_code_of(end);
      log::warning(text_of(verdict));
      stop_signal_ = signals_.wait(verdict.wait_s);
      if (stop_signal_ != 0) return ExitCode::stopped;  // everything that is committed is safe
    }
  }

 private:
  launch::GroupEnd attempt() {
    setenv("TRAINRT_FAILURES", std::to_string(failures_).c_str(), 1);
    const io::Descriptor input(config_.train.program.empty() ? -1 : input_.open());
    launch::RankGroup group(command_, ranks_, {spec_.failure.launch_timeout_s, spec_.failure.collective_timeout_s},
                            {input.get(), program::reads_script_from_input(config_.train.command)});
    while (!group.ended()) {
      pollfd waiting{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
      poll(&waiting, 1, 100);
      for (int signal = signals_.take(); signal != 0; signal = signals_.take()) {
        if (signal == SIGCHLD) continue;
        stop_signal_ = signal;
        group.signal(signal);
      }
    }
    return group.end();
  }

  batch::Situation situation_of(const launch::GroupEnd& end, int before) {
    batch::Situation situation{.exit_code = end.exit_code, .how = how_ = write_down(end, before)};
    situation.silent = rundir::last_attempt_was_silent(spec_.run_dir);
    if (end.exit_code == static_cast<int>(ExitCode::stopped)) situation.ending = batch::JobEnding::cancelled;
    failures_ += std::max(0, last_number() - before - 1);  // after which the ranks went on by themselves
    situation.failures = end.exit_code == 0 ? failures_ : ++failures_;
    return situation;
  }

  int last_number() const {
    const auto attempts = rundir::read_attempts(spec_.run_dir, 1);
    return attempts.empty() ? 0 : attempts.back().number;
  }

  /// Closes the record of an attempt that was killed. Returns how it ended.
  std::string write_down(const launch::GroupEnd& end, int before) const {
    const bool is_signal = end.exit_code > 128 && end.exit_code <= 128 + SIGRTMAX;
    const auto seen = is_signal ? fmt::format("killed: signal {} ended rank {}", end.exit_code - 128, end.rank)
                                : fmt::format("failed: rank {} ended with {}", end.rank, end.exit_code);
    const auto attempts = rundir::read_attempts(spec_.run_dir, 1);
    if (attempts.empty() || attempts.back().number <= before)
      return seen + " before an attempt had begun" + (end.exit_code == 0 ? "" : limits_in_words());
    const auto& last = attempts.back();
    if (!last.end.empty()) return fmt::format("attempt {}: {}", last.number, first_line(last.why));
    rundir::close_attempt(spec_.run_dir, last.number, seen, end.exit_code);
    return fmt::format("attempt {}: {}", last.number, seen);
  }

  void give_up() const {
    log::error(
        fmt::format("given up after {} (failure.max_failures = {}); {}. Fix what the errors above say and start the same "
                    "run again, with "
                    "--run.name={}: {}",
                    counted(failures_, "failure"), spec_.failure.max_failures, how_, spec_.run.name,
                    rundir::last_attempt_was_silent(spec_.run_dir) ? "its program goes on from what it saved by itself"
                                                                   : "it continues from its last checkpoint"));
  }

  const config::RunSpec& config_;
  config::RunSpec spec_;  ///< of the run that is watched over
  int ranks_;
  std::vector<std::string> command_;
  batch::SignalQueue signals_;
  ProgramInput input_;
  std::string how_;  ///< the last attempt ended
  int failures_ = 0;
  int stop_signal_ = 0;
};

}  // namespace

ExitCode run_on_this_node(const config::RunSpec& spec, int ranks, const std::vector<std::string>& words) {
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string(), "run"};
  // A name that was made of the moment must be the same after a restart.
  if (spec.run.is_name_default) setenv(config::run_name_variable, spec.run.name.c_str(), 1);
  command.insert(command.end(), words.begin(), words.end());
  const auto code = LocalRun(spec, ranks, std::move(command)).run();
  rundir::forget_opened_run(spec.run_dir);  // the next start finds its runs by itself
  return code;
}

}  // namespace trainrt::cli
