#include "cli/start/resolve_train_function.hpp"

#include <atomic>
#include <csignal>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "batch/signals.hpp"
#include "cli/start/builtin_functions.hpp"
#include "cli/start/requested_runs.hpp"
#include "config/value_origin.hpp"
#include "core/environment.hpp"
#include "io/storage.hpp"
#include "program/children/program_failed.hpp"
#include "program/environments/join_framework.hpp"
#include "program/progress/python_stacks.hpp"
#include "program/run/program.hpp"
#include "program/run/program_host.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "trainer/run/restarts.hpp"
#include "trainer/start/module_loader.hpp"

namespace trainrt::cli {

namespace {

const std::map<std::string, int> stop_signals = {
    {"TERM", SIGTERM}, {"INT", SIGINT}, {"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};

/// Returns a train function that runs `program` and converts its exception ProgramFailed into FailedTogether, so that
/// the trainer can restart the programs. `is_output_shown`: whether the terminal shows the program's output; the error
/// then also gets a brief message, which does not repeat the last lines of the output.
std::function<void(Context&)> restartable(std::function<void(Context&)> program, bool is_output_shown) {
  return [program = std::move(program), is_output_shown](Context& ctx) {
    try {
      program(ctx);
    } catch (const program::ProgramFailed& failure) {
      trainer::FailedTogether error(failure.what(), failure.code());
      error.signature = failure.signature;
      error.is_permanent = failure.is_permanent;
      error.mistake = failure.mistake;
      if (is_output_shown) error.brief = failure.brief;
      throw error;
    }
  };
}

/// Returns the message for a stop signal that arrives while a program without trainrt's client runs.
std::string stop_notice(const config::RunSpec& spec) {
  return fmt::format(
      "asked to stop; the program gets SIG{} and must save its state itself within {:g} s (train.stop_timeout)",
      spec.train.stop_signal, spec.train.stop_timeout_s);
}

/// Returns the hang timeout in seconds of programs that do not report their progress; 0: off.
double hang_timeout_s(const config::LimitOption& option) {
  constexpr double default_s = 600;
  using Kind = config::LimitOption::Kind;
  if (option.kind == Kind::off) return 0;
  return option.kind == Kind::seconds ? option.seconds : default_s;
}

program::ProgramOptions program_options(const config::RunSpec& spec, std::function<void(bool)> on_contact) {
  return {.command = spec.train.command,
          .stop_signal = stop_signals.at(spec.train.stop_signal),
          .stop_timeout_s = spec.train.stop_timeout_s,
          .contact_timeout_s = spec.failure.collective_timeout_s,
          .environments = spec.program.environments,
          .hides_gpus = spec.scaling.gpus_per_worker == "0",
          .own_gpus_only = spec.program.gpus == "own",
          .stage = {.source = spec.program.stage,
                    .folder = spec.program.stage_dir,
                    .timeout_s = spec.failure.collective_timeout_s},
          .max_restarts = spec.failure.max_failures,
          .interface = spec.program.interface,
          .hang_timeout_s = hang_timeout_s(spec.failure.hang_timeout),
          .hang_folder = rundir::hang_folder,
          .shown = spec.run.shown_output,
          .look_up = [spec](const program::RunRequest& request) { return find_requested_run(spec, request); },
          .on_contact = std::move(on_contact),
          .on_store_keys =
              [](const program::StoreKeys& keys) {
                io::set_mirror_keys({keys.key, keys.secret, keys.token});
              },
          .progress = spec.program.progress};
}

watch::StartedProgram started_program(std::string stacks, std::string last_call) {
  const auto position = program::python_position(stacks);
  const auto& collective = position.collective;
  return {collective.empty() ? position.innermost : fmt::format("{} of torch.distributed", collective),
          std::move(last_call), std::move(stacks)};
}

/// check_declared_keys() for a train function, not a program. Returns the function and its declarations.
auto checked_function(config::RunSpec& spec) {
  const auto find = [&] { return trainer::find_function(builtin_functions(), spec.train.function, spec.train.library); };
  const auto* key = spec.train.library.empty() ? "train.function" : "train.library";
  const auto entry = config::with_origin(spec.given, key, find);
  config::take_declared(entry.declared, entry.name, spec);
  return entry;
}

}  // namespace

std::string check_declared_keys(config::RunSpec& spec) {
  return spec.train.program.empty() ? checked_function(spec).name : std::string();
}

ResolvedFunction resolve_train_function(const config::RunSpec& spec) {
  if (spec.train.program.empty()) {
    const auto function = trainer::load_function(builtin_functions(), spec.train.function, spec.train.library);
    const auto find_peers = [interface = spec.program.interface](Context& ctx, const std::string& framework) {
      return program::join_framework(ctx, framework, interface);
    };
    return {{.name = std::string(function.name),
             .train = function.train,
             .prints_here = true,
             .framework = find_peers,
             .check = function.check},
            nullptr};
  }
  auto is_connected = std::make_shared<std::atomic<bool>>(false);
  const auto on_contact = [is_connected, notice = stop_notice(spec)](bool connected) {
    *is_connected = connected;
    batch::set_stop_notice(connected ? "" : notice);
  };
  auto [train, stacks, started] = program::program_function(program_options(spec, on_contact));
  const auto host = started;  // clang warns if a lambda captures a structured binding by its own name
  return {{.name = "program",
           .train = restartable(std::move(train), spec.run.shown_output != ShownOutput::none),
           .may_be_silent = true,
           .is_observed = !spec.program.progress.empty(),
           .is_running = [host] { return host->is_running(); },
           .is_connected = [is_connected] { return is_connected->load(); },
           .ready_s = [host] { return host->ready_s(); },
           .program = [ask = std::move(stacks), host] { return started_program(ask(), host->last_call()); }},
          host};
}

ResolvedFunction prepare_train_function(config::RunSpec& spec) {
  if (spec.train.program.empty()) {
    const auto function = checked_function(spec);
    config::warn_of_misspelled_datasets(function.declared, function.name, spec);
  }
  trainer::check_spec(spec);
  return resolve_train_function(spec);
}

std::string train_function_text(const config::RunSpec& spec, const trainer::TrainCall& call) {
  if (spec.train.program.empty()) return "train function " + call.name;
  return Environment::of_process().text("TRAINRT_FIT_TITLE").value_or("program " + spec.train.program);
}

}  // namespace trainrt::cli
