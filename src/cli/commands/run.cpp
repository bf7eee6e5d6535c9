// srun trainrt --config train.ini: run, or continue, the run that the config names.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/command.hpp"
#include "cli/load_spec.hpp"
#include "cli/local_run.hpp"
#include "cli/train_call.hpp"
#include "comm/agreement.hpp"
#include "comm/backend.hpp"
#include "comm/gpus.hpp"
#include "core/fault_point.hpp"
#include "core/first_rank.hpp"
#include "core/log.hpp"
#include "core/memory.hpp"
#include "core/options.hpp"
#include "launch/promise.hpp"
#include "trainer/advice.hpp"
#include "trainer/run.hpp"
#include "watch/crash_report.hpp"
#include "watch/start_watch.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr int most_local_ranks = 4096;
constexpr std::string_view run_usage = "[-n N] [--config FILE] [--section.key=value ...] [-- COMMAND ARGS]";

/// The deepest folder of a path that is there already.
std::string deepest_folder(std::filesystem::path path) {
  std::error_code error;
  while (path.has_relative_path() && !std::filesystem::is_directory(path, error)) path = path.parent_path();
  return path.string();
}

/// The config and the function, or the error that all ranks will agree on once they can talk.
struct Prepared {
  std::optional<config::RunSpec> spec;
  std::exception_ptr error;
};

Prepared read_config(std::span<const std::string> words) {
  Prepared prepared;
  try {
    prepared.spec = load_spec(words, std::string(run_usage));
  } catch (const Error&) {
    prepared.error = std::current_exception();
  }
  return prepared;
}

std::string launched(int ranks) { return fmt::format("{} rank{} launched", ranks, ranks == 1 ? " was" : "s were"); }

/// Elastic runs take any number of ranks in a range, others the one that was promised.
void require_workers(const config::RunSpec& spec, int size) {
  const int promised = spec.scaling.num_workers;
  if (spec.scaling.min_workers > 0) {
    if (size < spec.scaling.min_workers)
      throw UsageError(fmt::format("scaling.min_workers = {}, but {}: start with at least so many",
                                   spec.scaling.min_workers, launched(size)));
    if (promised > 0 && size > promised)
      throw UsageError(fmt::format(
          "scaling.num_workers = {}, but {}: an elastic run takes {} to {} (scaling.min_workers to scaling.num_workers)",
          promised, launched(size), spec.scaling.min_workers, promised));
    return;
  }
  if (promised > 0 && promised != size)
    throw UsageError(fmt::format("scaling.num_workers = {}, but {}: start with srun -n {} or mpiexec -n {}", promised,
                                 launched(size), promised, promised));
}

watch::StartTimes start_times_of(const config::RunSpec& spec) {
  return {spec.failure.hang_timeout, spec.failure.launch_timeout_s, spec.failure.storage_timeout_s};
}

/// A name with a date may differ from rank to rank.
void take_name_of_first(Prepared& prepared, Communicator& communicator) {
  const auto name = communicator.broadcast_text(prepared.spec ? prepared.spec->run.name : "", 0);
  if (prepared.spec && prepared.spec->run.is_name_default && !name.empty()) config::rename(*prepared.spec, name);
}

ExitCode run_on(launch::Launch& launch, Prepared& prepared, const comm::CommOptions& comm_options) {
  auto communicator = comm::open_communicator(launch, comm_options);
  take_name_of_first(prepared, *communicator);
  batch::install_stop_signals();  // again: MPI_Init takes SIGUSR1
  const auto& world = launch.world();
  try {
    trainer::TrainCall function;
    std::optional<watch::StartWatch> start_watch;
    if (prepared.spec) start_watch.emplace(launch, start_times_of(*prepared.spec));
    const auto prepare = [&] {
      if (prepared.error) std::rethrow_exception(prepared.error);
      require_workers(*prepared.spec, world.size);
      take_declared(*prepared.spec);
      trainer::check_spec(*prepared.spec);
      function = train_call(*prepared.spec);
    };
    const auto take_gpus = [&] { comm::put_on_gpus(communicator, launch.world(), comm_options); };
    comm::agreed(*communicator, prepare, trainer::with_advice);
    comm::agreed(*communicator, take_gpus, trainer::with_advice);
    log::info(fmt::format("{} rank{} on {} node{} ({}, {}), {}", world.size, world.size == 1 ? "" : "s", world.node_count,
                          world.node_count == 1 ? "" : "s", world.launcher, comm::choice_explained(world, *communicator),
                          described(*prepared.spec, function)));
    if (prepared.spec->run.is_name_default)
      log::info(
          fmt::format("the run is in {}; --run.name={} continues it", prepared.spec->run_dir, prepared.spec->run.name));
    watch::install_crash_reports();  // last: UCX, MPI and libraries of the train function may install handlers too
    start_watch.reset();             // run() has its own
    const auto outcome = trainer::run(*prepared.spec, function, launch, *communicator);
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
  auto prepared = read_config(words);
  launch::LaunchOptions launch_options;
  comm::CommOptions comm_options;
  if (prepared.spec) {
    launch_options.timeout_seconds = prepared.spec->failure.launch_timeout_s;
    launch_options.shared_dir = deepest_folder(prepared.spec->run.storage_path);
    comm_options = comm_options_of(*prepared.spec);
  }
  std::unique_ptr<launch::Launch> launch;
  try {
    launch = launch::discover(environment, launch_options);
  } catch (const Error& error) {
    // No rank can talk to another: the one that calls itself the first speaks.
    if (launch::claimed_rank(environment) == 0) log::error(trainer::with_advice(error));
    return error.code();
  }
  log::set_rank(launch->world().rank, launch->world().size);
  FirstRank(launch->world().rank).does(batch::acknowledge_stop_signals);
  try {
    const auto code = run_on(*launch, prepared, comm_options);
    launch->finalize();
    return code;
  } catch (const UsageError& error) {  // of the communicator's opening
    std::this_thread::sleep_for(std::chrono::duration<double>(behind_first_s(launch->world(), 1)));
    log::error(trainer::with_advice(error));
    launch->abort(static_cast<int>(error.code()));
    return error.code();
  } catch (const std::bad_alloc&) {  // as below
    log::error(out_of_memory_text());
    launch->abort(static_cast<int>(ExitCode::failed));
  } catch (const std::exception& error) {  // not agreed on: the others wait somewhere
    log::error(trainer::with_advice(error));
    launch->abort(static_cast<int>(ExitCode::failed));
  }
  return ExitCode::failed;
}

/// N of `-n N`, which is cut out; nullopt if it is not there. Words behind `--` are a program's.
std::optional<int> take_ranks(std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  const auto option = std::find(words.begin(), end, "-n");
  if (option == end) return std::nullopt;
  const auto number = option + 1 == end ? std::nullopt : parse_integer(*(option + 1));
  if (!number || *number < 1 || *number > most_local_ranks)
    throw UsageError(
        fmt::format("-n takes a number of ranks, from 1 to {}; usage: trainrt {}", most_local_ranks, run_usage));
  words.erase(option, option + 2);
  return static_cast<int>(*number);
}

ExitCode start_ranks_here(int ranks, const std::vector<std::string>& words, const Environment& environment) {
  if (launch::is_in_step(environment))
    throw UsageError("-n starts ranks on this node by itself, and this is a rank of a step already: leave -n out");
  const auto spec = load_spec(words, std::string(run_usage));
  if (spec.scaling.num_workers > 0 || spec.scaling.min_workers > 0) require_workers(spec, ranks);
  return run_on_this_node(spec, ranks, words);
}

ExitCode run_command(std::span<const std::string> given) {
  std::vector<std::string> words(given.begin(), given.end());
  if (const auto ranks = take_ranks(words)) return start_ranks_here(*ranks, words, Environment::of_process());
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
        "A program that falls takes those of all ranks with it, and the ranks start all again, up to failure.max_failures\n"
        "times.\n"
        "What listens: between nodes MPI; for a program rank 0's runtime, which serves MPI, Horovod and XGBoost to it "
        "(program.env),\non 127.0.0.1 if all ranks are on one node; and what the program opens.\n",
    .run = run_command,
    .output_is_result = false};

}  // namespace trainrt::cli::plugins
