// Under srun: what launcher, MPI, PMIx, HDF5, CUDA, NCCL, cores and file system do the ranks find, and is it all well?
#include <algorithm>
#include <filesystem>
#include <optional>

#include "batch/signals.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/config/load_run_spec.hpp"
#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/doctor_container.hpp"
#include "cli/doctor/doctor_report.hpp"
#include "cli/doctor/watchdog.hpp"
#include "comm/agreement.hpp"
#include "comm/backend.hpp"
#include "core/output/log.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/start/rank_start.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view doctor_usage =
    "doctor [--storage PATH] [--json] [--config FILE] [--section.key=value ...] [-- COMMAND ARGS]";
constexpr double collective_limit_seconds = 30;
constexpr double start_seconds = 10;  // of MPI itself, once the ranks are there

Arguments parse(std::span<const std::string> words) {
  auto arguments = parse_arguments(words, {.with_value = {"config", "storage"},
                                           .switches = {"json"},
                                           .overrides = true,
                                           .program = true,
                                           .usage = std::string(doctor_usage)});
  if (!arguments.overrides.empty() && !arguments.has("config") && !arguments.program)
    throw UsageError(arguments.overrides.front() + " needs --config FILE, or -- and a program; usage: trainrt " +
                     std::string(doctor_usage));
  return arguments;
}

/// The folder to examine: the one that is named, the config's (as much of it as is there: a run makes the rest), or this
/// one.
std::string storage_of(const Arguments& arguments, const std::optional<config::RunSpec>& spec) {
  std::filesystem::path path = spec ? spec->run.storage_path : ".";
  std::error_code error;
  if (arguments.has("storage"))
    path = arguments.options.at("storage");
  else
    while (path.has_relative_path() && !std::filesystem::exists(path, error)) path = path.parent_path();
  path = std::filesystem::absolute(path).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).string();
}

/// What the command line says: the config's launch and communication too, or the error that all ranks agree on once they
/// can talk.
struct Plan {
  doctor::Subject subject;
  launch::LaunchOptions launch;
  comm::CommOptions comm{.timeout_seconds = collective_limit_seconds};
  std::exception_ptr error;
};

Plan plan_of(const Arguments& arguments) {
  Plan plan;
  try {
    std::optional<config::RunSpec> spec;
    if (arguments.has("config") || arguments.program) spec = load_run_spec(arguments, std::string(doctor_usage));
    plan.subject.storage = storage_of(arguments, spec);
    if (!spec) return plan;
    plan.launch.timeout_seconds = spec->failure.launch_timeout_s;
    plan.comm = trainer::comm_options_of(*spec);
    plan.comm.timeout_seconds = std::min(plan.comm.timeout_seconds, collective_limit_seconds);
    plan.subject.gpus_per_worker = spec->scaling.gpus_per_worker;
    plan.subject.command = spec->train.command;
    plan.subject.interface = spec->program.interface;
    plan.subject.is_staged = !spec->program.stage.empty();
  } catch (const Error&) {
    plan.error = std::current_exception();
  }
  return plan;
}

/// What stands in the report while the ranks speak.
struct Visit {
  std::unique_ptr<doctor::Report> report;
  std::string_view check = "launcher";
};

void run_checks(const doctor::Examination& examination, const Plan& plan, Visit& visit, Watchdog& watchdog) {
  visit.report->begin(examination);
  for (const auto* check : doctor::checks_in_order()) {
    if (check->of_program && examination.command().empty()) continue;
    visit.check = check->name;
    watchdog.watch("doctor: " + std::string(check->name), plan.comm.timeout_seconds + doctor::check_limit_seconds);
    visit.report->add(check->name, check->run(examination));
  }
  visit.report->end();
}

ExitCode examine(launch::Launch& launch, const Environment& environment, const Plan& plan, Visit& visit) {
  Watchdog watchdog(launch);
  watchdog.watch("doctor: the start of communication", plan.launch.timeout_seconds + start_seconds);
  const auto communicator = comm::open_communicator(launch, plan.comm);
  batch::install_stop_signals();  // again: MPI_Init takes SIGUSR1
  try {
    const auto prepare = [&] {
      if (plan.error) std::rethrow_exception(plan.error);
    };
    comm::collectively(*communicator, prepare, trainer::with_advice);
    run_checks({launch.world(), *communicator, environment, plan.subject}, plan, visit, watchdog);
    communicator->barrier();
    return visit.report->code();
  } catch (const comm::AgreedError& error) {
    log::run_error(error.what());
    communicator->barrier();
    return error.code();
  }
}

void add_failure(Visit& visit, const Error& failure) {
  visit.report->add(visit.check, doctor::error(trainer::with_advice(failure),
                                               "nothing could be examined from here on: mend this, and run it again"));
  visit.report->end();
}

ExitCode doctor_command(std::span<const std::string> words) {
  batch::install_stop_signals();
  auto arguments = parse(words);
  const auto plan = plan_of(arguments);
  const auto environment = Environment::of_process();
  const auto form = arguments.has("json") ? doctor::Form::json : doctor::Form::text;
  Visit visit{doctor::make_report(launch::claimed_rank(environment), form)};
  const doctor::NodeMemoryProbe node_memory(environment);
  std::unique_ptr<launch::Launch> launch;
  try {
    launch = launch::discover(environment, plan.launch);
  } catch (const Error& failure) {
    const auto finding = doctor::finding_of_step(launch::view_of_step(environment));
    if (finding.grade != doctor::Grade::ok) visit.report->add("container", finding);
    add_failure(visit, failure);
    return ExitCode::failed;
  }
  const auto& world = launch->world();
  log::set_rank(world.rank, world.size);
  try {
    visit.check = "container";
    node_memory.require_shared(world);
    visit.check = "launcher";
    const auto code = examine(*launch, environment, plan, visit);
    launch->finalize();
    return code;
  } catch (const Error& failure) {  // not agreed on: the others wait somewhere
    add_failure(visit, failure);
    visit.report->fail_unseen(failure);
    wait_for_output_delivery();
    launch->abort(static_cast<int>(ExitCode::failed));
  }
  return ExitCode::failed;
}

}  // namespace

extern const Command doctor;
const Command doctor{
    .name = "doctor",
    .usage = doctor_usage,
    .help = "under srun: launcher, MPI, HDF5, CUDA, cores, network, storage: is it all well?",
    .details =
        "Start it as the run will be started: the same srun options, or by hand for this machine alone. A "
        "line a check begins with\n"
        "ok, warning or error, and says what to do. The storage is --storage, the config's "
        "run.storage_path, or the current folder:\n"
        "every node writes at most 64 MiB there, for at most 3 s, in files named .trainrt-doctor*, which "
        "are removed (those of a killed\n"
        "doctor by the next one). With -- COMMAND ARGS, or a config with train.program, it also looks for what "
        "stops such a program:\nits files, its Python and frameworks on each node, the address the ranks "
        "are to meet at, CPUs, proxies, limits, stale locks.\nThe program is not started; its Python "
        "interpreter is, once a node. --json prints one JSON object instead, for programs.\n"
        "Exit codes: 0 no error was found, 64 bad usage or config, 70 an error was found, 75 stopped by a "
        "signal.\n",
    .run = doctor_command};

}  // namespace trainrt::cli::plugins
