#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/doctor_container.hpp"
#include "cli/doctor/doctor_report.hpp"
#include "cli/doctor/watchdog.hpp"
#include "cli/start/load_run_spec.hpp"
#include "comm/agreement.hpp"
#include "comm/backend.hpp"
#include "core/files/shortage.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/start/rank_start.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view doctor_usage = "doctor [OPTION...] [-- PROGRAM ARGS]";

constexpr Example doctor_examples[] = {{"srun trainrt doctor", "on all ranks of a Slurm job"},
                                       {"srun trainrt doctor -- python3 train.py", "also what this script needs"},
                                       {"trainrt doctor", "this machine alone"}};

constexpr CommandOption doctor_options[] = {
    {"storage", "PATH", "folder to check; default: run.storage_path of the config, or the current folder"},
    {"json", "", "print one JSON object"},
    {"config", "FILE", "check with the timeouts, storage path and program of this config"},
    override_option,
    {"-- PROGRAM ARGS", "", "also check the requirements of this program, without starting it"}};

constexpr ExitNote doctor_exit_codes[] = {{0, "no error was found"},
                                          {64, "invalid arguments or config"},
                                          {70, "an error was found"},
                                          {75, "stopped by a signal"}};

constexpr double collective_limit_seconds = 30;
constexpr double mpi_start_seconds = 10;  // limit of MPI_Init, which follows the rendezvous of the ranks

Arguments parse(std::span<const std::string> words) {
  auto arguments =
      parse_arguments(words, {.options = doctor_options, .overrides = true, .program = true, .usage = doctor_usage});
  if (!arguments.overrides.empty() && !arguments.has("config") && !arguments.program)
    throw UsageError(fmt::format("option {} requires --config FILE, or a program after --; usage: trainrt {}",
                                 excerpt(arguments.overrides.front(), 60), doctor_usage));
  return arguments;
}

/// Returns the folder to check: --storage, the existing part of the config's run.storage_path, or the current folder.
std::string storage_of(const Arguments& arguments, const std::optional<config::RunSpec>& spec) {
  std::filesystem::path path =
      arguments.has("storage") ? arguments.options.at("storage") : existing_part(spec ? spec->run.storage_path : ".");
  path = std::filesystem::absolute(path).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).string();
}

/// Settings from the command line and the config. If they are invalid, `error` contains the exception, which is
/// rethrown when all ranks can agree on it.
struct Settings {
  doctor::Subject subject;
  launch::LaunchOptions launch;
  comm::CommOptions comm{.timeout_seconds = collective_limit_seconds};
  std::exception_ptr error;
};

Settings settings_of(const Arguments& arguments) {
  Settings settings;
  try {
    std::optional<config::RunSpec> spec;
    if (arguments.has("config") || arguments.program) spec = load_run_spec(arguments, std::string(doctor_usage));
    settings.subject.storage = storage_of(arguments, spec);
    if (!spec) return settings;
    settings.launch.timeout_seconds = spec->failure.launch_timeout_s;
    settings.comm = trainer::comm_options_of(*spec);
    settings.comm.timeout_seconds = std::min(settings.comm.timeout_seconds, collective_limit_seconds);
    settings.subject.gpus_per_worker = spec->scaling.gpus_per_worker;
    settings.subject.command = spec->train.command;
    settings.subject.interface = spec->program.interface;
    settings.subject.is_staged = !spec->program.stage.empty();
  } catch (const Error&) {
    settings.error = std::current_exception();
  }
  return settings;
}

/// The report of this process, and the name of the running check, to which an error is attributed.
struct Progress {
  doctor::Report report;
  std::string_view check = "launcher";
};

void run_checks(const doctor::DoctorRanks& ranks, const Settings& settings, Progress& progress, Watchdog& watchdog) {
  progress.report.begin(ranks);
  for (const auto* check : doctor::checks_in_order(!ranks.subject().command.empty())) {
    progress.check = check->name;
    watchdog.watch("doctor: " + std::string(check->name), settings.comm.timeout_seconds + doctor::check_limit_seconds);
    progress.report.add(check->name, doctor::run_check(*check, ranks));
  }
  progress.report.end();
}

ExitCode run_on_ranks(launch::Launch& launch, const Environment& environment, const Settings& settings,
                      Progress& progress) {
  Watchdog watchdog(launch);
  watchdog.watch("doctor: the start of communication", settings.launch.timeout_seconds + mpi_start_seconds);
  const auto communicator = comm::open_communicator(launch, settings.comm);
  batch::install_stop_signals();  // again, because MPI_Init replaces the handler of SIGUSR1
  try {
    const auto require_valid_settings = [&] {
      if (settings.error) std::rethrow_exception(settings.error);
    };
    comm::collectively(*communicator, require_valid_settings, trainer::with_advice);
    run_checks({launch.world(), *communicator, environment, settings.subject}, settings, progress, watchdog);
    communicator->barrier();
    return progress.report.code();
  } catch (const comm::AgreedError& error) {
    log::run_error(error.what());
    communicator->barrier();
    return error.code();
  }
}

void add_failure(Progress& progress, const Error& failure) {
  progress.report.add(progress.check, doctor::error(trainer::with_advice(failure),
                                                    "fix this and run `trainrt doctor` again; later checks were skipped"));
  progress.report.end();
}

ExitCode doctor_command(std::span<const std::string> words) {
  batch::install_stop_signals();
  const auto arguments = parse(words);
  const auto settings = settings_of(arguments);
  const auto environment = Environment::of_process();
  const auto form = arguments.has("json") ? doctor::Report::Form::json : doctor::Report::Form::text;
  Progress progress{{launch::claimed_rank(environment), form}};
  const doctor::NodeMemoryProbe node_memory(environment);
  std::unique_ptr<launch::Launch> launch;
  try {
    launch = launch::discover(environment, settings.launch);
  } catch (const Error& failure) {
    const auto finding = doctor::finding_of_step(launch::view_of_step(environment));
    if (finding.grade != doctor::Grade::ok) progress.report.add("container", finding);
    add_failure(progress, failure);
    return ExitCode::failed;
  }
  const auto& world = launch->world();
  log::set_rank(world.rank, world.size);
  try {
    progress.check = "container";
    node_memory.require_shared(world);
    progress.check = "launcher";
    const auto code = run_on_ranks(*launch, environment, settings, progress);
    launch->finalize();
    return code;
  } catch (const Error& failure) {  // on this rank only: the other ranks may wait in a collective
    add_failure(progress, failure);
    progress.report.log_if_silent(failure);
    wait_for_output_delivery();
    launch->abort(static_cast<int>(ExitCode::failed));
  }
  return ExitCode::failed;
}

}  // namespace

extern const Command doctor;
const Command doctor{
    .name = "doctor",
    .group = CommandGroup::machine,
    .order = 1,
    .usage = doctor_usage,
    .help = "check the launcher, MPI, HDF5 and file systems, and report problems",
    .examples = doctor_examples,
    .options = doctor_options,
    .notes =
        "Start it like the run, with the same srun options. Each line is the result of a check: ok, warning or error, with "
        "advice.\n"
        "The lines mpi and pmix name the libraries that are loaded; TRAINRT_MPI_LIBRARY and TRAINRT_PMIX_LIBRARY name "
        "others.\n"
        "Each node writes at most 64 MiB to the folder, for at most 3 s, in files named .trainrt-doctor*. The "
        "files are removed; the next doctor removes those of a killed one.\n"
        "With a program after --, or a config with train.program, it also checks the program's files, its Python and "
        "frameworks on each node, the address at which the ranks connect, CPUs, proxies, limits and stale locks. The "
        "program is not started; its Python interpreter is, once per node.\n",
    .exit_codes = doctor_exit_codes,
    .run = doctor_command};

}  // namespace trainrt::cli::plugins
