#include "cli/train_call.hpp"

#include <csignal>
#include <map>

#include <trainrt/error.hpp>

#include "frameworks/builtin_functions.hpp"
#include "frameworks/program/program.hpp"
#include "frameworks/program/program_fell.hpp"
#include "rundir/attempt_files.hpp"
#include "trainer/module_loader.hpp"
#include "trainer/restarts.hpp"

namespace trainrt::cli {

namespace {

const std::map<std::string, int> stop_signals = {
    {"TERM", SIGTERM}, {"INT", SIGINT}, {"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};

/// What the trainer calls it if programs fell that can be started again.
std::function<void(Context&)> restartable(std::function<void(Context&)> program) {
  return [program = std::move(program)](Context& ctx) {
    try {
      program(ctx);
    } catch (const program::ProgramFell& fall) {
      throw trainer::FailedTogether(fall.what(), fall.code());
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

}  // namespace

std::string take_declared(config::RunSpec& spec) {
  if (!spec.train.program.empty()) return {};
  const auto entry = trainer::find_function(builtin_functions(), spec.train.function, spec.train.library);
  config::take_declared(entry.declared, entry.name, spec);
  return entry.name;
}

trainer::TrainCall train_call(const config::RunSpec& spec) {
  if (spec.train.program.empty()) {
    const auto function = trainer::load_function(builtin_functions(), spec.train.function, spec.train.library);
    return {std::string(function.name), function.train};
  }
  return {"program",
          restartable(program::program_function({.command = spec.train.command,
                                                 .stop_signal = stop_signals.at(spec.train.stop_signal),
                                                 .stop_timeout_s = spec.train.stop_timeout_s,
                                                 .contact_timeout_s = spec.failure.collective_timeout_s,
                                                 .environments = spec.program.environments,
                                                 .own_gpus_only = spec.program.gpus == "own",
                                                 .stage = {.source = spec.program.stage,
                                                           .folder = spec.program.stage_dir,
                                                           .timeout_s = spec.failure.collective_timeout_s},
                                                 .max_restarts = spec.failure.max_failures,
                                                 .interface = spec.program.interface,
                                                 .hang_timeout_s = hang_timeout_s(spec.failure.hang_timeout),
                                                 .hang_folder = rundir::hang_folder,
                                                 .shown = spec.run.shown_output,
                                                 .progress = spec.program.progress})),
          true, !spec.program.progress.empty()};
}

std::string described(const config::RunSpec& spec, const trainer::TrainCall& call) {
  return spec.train.program.empty() ? "train function " + call.name : "program " + spec.train.program;
}

}  // namespace trainrt::cli
