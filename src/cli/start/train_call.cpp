#include "cli/start/train_call.hpp"

#include <csignal>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/start/program_runs.hpp"
#include "frameworks/builtin_functions.hpp"
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

/// What the trainer calls it if programs fell that can be started again.
std::function<void(Context&)> restartable(std::function<void(Context&)> program) {
  return [program = std::move(program)](Context& ctx) {
    try {
      program(ctx);
    } catch (const program::ProgramFailed& failure) {
      throw trainer::FailedTogether(failure.what(), failure.code());
    }
  };
}

/// Of programs whose progress nobody sees.
double hang_timeout_s(const config::LimitOption& option) {
  constexpr double automatic_s = 600;
  using Kind = config::LimitOption::Kind;
  if (option.kind == Kind::off) return 0;
  return option.kind == Kind::seconds ? option.seconds : automatic_s;
}

program::ProgramOptions program_options(const config::RunSpec& spec) {
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
          .look_up = [spec](const program::RunRequest& request) { return look_up(spec, request); },
          .progress = spec.program.progress};
}

watch::StartedProgram started_program(std::string stacks, std::string last_call) {
  const auto position = program::python_position(stacks);
  const auto& collective = position.collective;
  return {collective.empty() ? position.innermost : fmt::format("{} of torch.distributed", collective),
          std::move(last_call), std::move(stacks)};
}

}  // namespace

std::string take_declared(config::RunSpec& spec) {
  if (!spec.train.program.empty()) return {};
  const auto entry = trainer::find_function(builtin_functions(), spec.train.function, spec.train.library);
  config::take_declared(entry.declared, entry.name, spec);
  return entry.name;
}

Training training_of(const config::RunSpec& spec) {
  if (spec.train.program.empty()) {
    const auto function = trainer::load_function(builtin_functions(), spec.train.function, spec.train.library);
    const auto meet = [interface = spec.program.interface](Context& ctx, const std::string& framework) {
      return program::join_framework(ctx, framework, interface);
    };
    return {{.name = std::string(function.name),
             .train = function.train,
             .prints_here = true,
             .framework = meet,
             .check = function.check},
            nullptr};
  }
  auto [train, stacks, host] = program::program_function(program_options(spec));
  return {{.name = "program",
           .train = restartable(std::move(train)),
           .may_be_silent = true,
           .is_observed = !spec.program.progress.empty(),
           .is_running = [host = host] { return host->is_running(); },
           .ready_s = [host = host] { return host->ready_s(); },
           .program = [ask = std::move(stacks), host = host] { return started_program(ask(), host->last_call()); }},
          std::move(host)};
}

Training prepared_training(config::RunSpec& spec) {
  take_declared(spec);
  trainer::check_spec(spec);
  return training_of(spec);
}

std::string described(const config::RunSpec& spec, const trainer::TrainCall& call) {
  return spec.train.program.empty() ? "train function " + call.name : "program " + spec.train.program;
}

}  // namespace trainrt::cli
