// srun trainrt --config train.ini: run, or continue, the run that the config names.
#include <memory>
#include <optional>

#include "batch/signals.hpp"
#include "cli/command_line/command.hpp"
#include "cli/command_line/rank_count_option.hpp"
#include "cli/config/load_run_spec.hpp"
#include "cli/start/exec_program.hpp"
#include "cli/start/requested_runs.hpp"
#include "cli/start/resolve_train_function.hpp"
#include "cli/start/script_input.hpp"
#include "cli/start/slurm_environment.hpp"
#include "cli/supervise/local_run.hpp"
#include "comm/agreement.hpp"
#include "comm/backend.hpp"
#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "launch/expected_size.hpp"
#include "launch/shell_step.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/records/own_run.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/rank_start.hpp"
#include "tune/trials/trial_callback.hpp"
#include "watch/crash_report.hpp"

namespace trainrt::cli::plugins {

using trainer::Prepared;

namespace {

constexpr std::string_view run_usage =
    "[-n N] [--config FILE] [--trust-owner=USER] [--section.key=value ...] [-- COMMAND ARGS]";

/// Which trial of a sweep this run is; programs that it starts are none.
std::optional<std::string> own_trial() {
  auto trial = Environment::of_process().text(tune::trial_variable);
  unsetenv(tune::trial_variable);
  return trial;
}

ExitCode run_on(launch::Launch& launch, Prepared& prepared) {
  auto communicator = comm::open_communicator(launch, trainer::comm_options_of(prepared));
  trainer::take_name_of_first(prepared, *communicator);
  batch::install_stop_signals();  // again: MPI_Init takes SIGUSR1
  const auto& world = launch.world();
  try {
    ResolvedFunction training;
    const auto prepare = [&] {
      training = prepare_train_function(*prepared.spec);
      if (const auto trial = own_trial()) training.call.callbacks.push_back(tune::trial_callback(*trial));
    };
    trainer::agree_on_start(prepared, launch, communicator, prepare);
    trainer::say_ranks(world, *communicator, train_function_text(*prepared.spec, training.call));
    watch::install_crash_reports();  // last: UCX, MPI and libraries of the train function may install handlers too
    const auto require = [&](const config::RunSpec& spec) {
      trainer::require_workers(spec, world.size);
      trainer::check_spec(spec);
    };
    const auto outcome = training.host ? run_requested(*prepared.spec, training, launch, *communicator, require)
                                       : trainer::run(*prepared.spec, training.call, launch, *communicator);
    log::info(outcome.message);
    fault_point("exit");
    communicator->barrier();
    return outcome.code;
  } catch (const comm::AgreedError& error) {
    log::run_error(error.what());
    communicator->barrier();
    return error.code();
  }
}

ExitCode run_as_rank(std::span<const std::string> words) {
  batch::install_stop_signals();
  fault_point("start");
  const auto environment = Environment::of_process();
  auto prepared = trainer::prepared([&] {
    auto spec = load_run_spec(words, std::string(run_usage));
    if (launch::is_shell_step(environment)) warn_of_unused_tasks(1, words);
    hold_script_from_input(spec);
    if (spec.program.has_trainer) exec_program(spec, launch::claimed_rank(environment));
    return spec;
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
    const auto code = run_on(*launch, prepared);
    launch->finalize();
    return code;
  } catch (const std::exception&) {
    return trainer::end_step(*launch);
  }
}

ExitCode start_ranks_here(int ranks, const std::vector<std::string>& words, const Environment& environment) {
  if (launch::is_rank_of_several(environment))
    throw UsageError("-n starts ranks on this node by itself, and this is a rank of a step already: leave -n out");
  const auto spec = load_run_spec(words, std::string(run_usage));
  if (spec.scaling.num_workers > 0 || spec.scaling.min_workers > 0) trainer::require_workers(spec, ranks);
  trainer::require_own_run(spec);
  hold_script_from_input(spec);
  warn_of_unused_tasks(ranks, words);
  leave_shell_step();
  return run_on_this_node(spec, ranks, words);
}

ExitCode run_command(std::span<const std::string> given) {
  std::vector<std::string> words(given.begin(), given.end());
  if (const auto ranks = take_rank_count_option(words, run_usage))
    return start_ranks_here(*ranks, words, Environment::of_process());
  return run_as_rank(words);
}

}  // namespace

extern const Command run;
const Command run{
    .name = "run",
    .usage = run_usage,
    .help = "run, or continue, the run that the config names, or a program (the word `run` may be left out)",
    .details =
        "What stands behind -- is a program with its arguments, and needs no config: run.name is made of it and of "
        "the Slurm\njob, so that a requeue of the job continues the run, and run.storage_path is `runs` in the "
        "folder of submission.\n"
        "Started under srun or mpiexec it is one rank of many; by hand it is a run of one rank, or with -n of N on this "
        "machine,\nwhich are started again after a failure, up to failure.max_failures times. SIGUSR1, SIGUSR2, SIGTERM,\n"
        "SIGINT or SIGHUP on any rank stop all ranks at one step, with everything saved; so does the end of "
        "the Slurm job's time.\n"
        "Exit codes: 0 finished, 64 bad usage or config, 70 the train function failed or a stop could not be "
        "saved, 75 stopped: run the "
        "same command again, 76 the last attempts of this Slurm job got no further.\n"
        "Standard input that is no terminal goes to the program of rank 0; a script that its interpreter reads from there\n"
        "(python3 - < train.py) goes to all ranks.\n"
        "A program that falls takes those of all ranks with it, and the ranks start all again, up to failure.max_failures\n"
        "times.\n"
        "A run of another user is continued only with --trust-owner=USER, or if trust_group in [trust] of\n"
        "~/.config/trainrt/trainrt.ini or /etc/trainrt/trainrt.ini names a group of that user's.\n"
        "What listens: between nodes MPI; for a program rank 0's runtime, which serves MPI, Horovod and XGBoost to it "
        "(program.env),\non 127.0.0.1 if all ranks are on one node; and what the program opens.\n",
    .run = run_command,
    .output_is_result = false,
    .writes_run = true};

}  // namespace trainrt::cli::plugins
