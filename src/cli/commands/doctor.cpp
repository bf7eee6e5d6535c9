#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/doctor_container.hpp"
#include "cli/start/load_run_spec.hpp"
#include "cli/terminal/print.hpp"
#include "comm/agreement.hpp"
#include "comm/backend.hpp"
#include "core/files/shortage.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/process/timeout.hpp"
#include "core/text/text.hpp"
#include "core/version.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/start/rank_start.hpp"

namespace trainrt::cli::plugins {

namespace {

using namespace cli::doctor;

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
  Subject subject;
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

/// Prints the findings on standard output of rank 0: one line for each finding as soon as it is known, or one JSON
/// object at the end. Prints nothing on other ranks.
class Report {
 public:
  Report(int rank, bool as_json) : prints_(rank == 0), as_json_(as_json) {}

  std::string_view check = "launcher";  ///< the running check, to which an error is attributed
  Json about = Json::object();          ///< ranks and storage, for the JSON object; empty if the ranks cannot communicate
  bool prints() const { return prints_; }
  bool has_error() const { return counts_.back() > 0; }

  void add(std::string_view name, const Finding& finding) {
    ++counts_[static_cast<std::size_t>(finding.grade)];
    const auto grade = grades[static_cast<std::size_t>(finding.grade)];
    if (as_json_)
      return findings_.push_back({{"name", name},
                                  {"grade", grade},
                                  {"text", finding.text},
                                  {"advice", finding.advice},
                                  {"figures", finding.figures}});
    print_line(
        fmt::format("{:<8} {:<25} {}{}{}", grade, name, finding.text, finding.advice.empty() ? "" : "; ", finding.advice));
  }

  void end() const {
    const std::size_t worst = has_error() ? 2 : counts_[1] > 0 ? 1 : 0;
    if (!as_json_)
      return print_line(fmt::format("{} ok, {}, {}: {}", counts_[0], counted(counts_[1], "warning"),
                                    counted(counts_[2], "error"), conclusions[worst]));
    Json report = {{"trainrt", version}, {"grade", grades[worst]}};
    report.update(about);
    report["checks"] = findings_;
    if (prints_) print_json(report);
    std::fflush(stdout);
  }

 private:
  static constexpr std::array<std::string_view, 3> grades = {"ok", "warning", "error"};
  static constexpr std::array<std::string_view, 3> conclusions = {
      "a run can start here", "a run can start here; the lines with `warning` describe possible improvements",
      "fix the problems in the lines with `error` before you start a run here"};

  /// Flushes the output, because the next check may block.
  void print_line(std::string line) const {
    std::ranges::replace(line, '\n', ' ');
    if (prints_) print_text(line + "\n");
    std::fflush(stdout);
  }

  bool prints_;
  bool as_json_;
  std::array<int, 3> counts_{};  ///< number of findings, by grade
  Json findings_ = Json::array();
};

/// Starts the time limit of an operation, and ends the time limit of the previous operation. All ranks end with exit
/// code 70 if the limit is exceeded. This is necessary because a system call on a file system that does not respond
/// never returns.
void watch(std::optional<Timeout>& limit, launch::Launch& launch, const std::string& operation, double seconds) {
  limit.emplace(seconds, [&launch, operation, seconds] {
    log::error(
        fmt::format("doctor: {} has not finished on {} after {} s; ending all ranks. Check for a network file system "
                    "that does not respond, or a network that is down",
                    operation, host_name(), seconds));
    wait_for_output_delivery();
    launch.abort(static_cast<int>(ExitCode::failed));
  });
}

ExitCode run_on_ranks(launch::Launch& launch, const Environment& environment, const Settings& settings, Report& report) {
  std::optional<Timeout> limit;
  watch(limit, launch, "the start of communication", settings.launch.timeout_seconds + mpi_start_seconds);
  const auto communicator = comm::open_communicator(launch, settings.comm);
  batch::install_stop_signals();  // again, because MPI_Init replaces the handler of SIGUSR1
  auto code = ExitCode::finished;
  try {
    const auto require_valid_settings = [&] {
      if (settings.error) std::rethrow_exception(settings.error);
    };
    comm::collectively(*communicator, require_valid_settings, trainer::with_advice);
    const DoctorRanks ranks(launch.world(), *communicator, environment, settings.subject);
    report.about = {
        {"ranks", ranks.world().size}, {"nodes", ranks.world().node_count}, {"storage", ranks.subject().storage}};
    for (const auto* check : checks_in_order(!ranks.subject().command.empty())) {
      report.check = check->name;
      watch(limit, launch, std::string(check->name), settings.comm.timeout_seconds + check_limit_seconds);
      report.add(check->name, run_check(*check, ranks));
    }
    report.end();
    if (report.has_error()) code = ExitCode::failed;
  } catch (const comm::AgreedError& error) {
    log::run_error(error.what());
    code = error.code();
  }
  communicator->barrier();
  return code;
}

ExitCode report_failure(Report& report, const Error& failure) {
  report.add(report.check,
             error(trainer::with_advice(failure), "fix this and run `trainrt doctor` again; later checks were skipped"));
  report.end();
  return ExitCode::failed;
}

ExitCode doctor_command(std::span<const std::string> words) {
  batch::install_stop_signals();
  const auto arguments = parse(words);
  const auto settings = settings_of(arguments);
  const auto environment = Environment::of_process();
  Report report(launch::claimed_rank(environment), arguments.has("json"));
  const NodeMemoryProbe node_memory(environment);
  std::unique_ptr<launch::Launch> launch;
  try {
    launch = launch::discover(environment, settings.launch);
  } catch (const Error& failure) {
    const auto finding = finding_of_step(launch::view_of_step(environment));
    if (finding.grade != Grade::ok) report.add("container", finding);
    return report_failure(report, failure);
  }
  const auto& world = launch->world();
  log::set_rank(world.rank, world.size);
  try {
    report.check = "container";
    node_memory.require_shared(world);
    report.check = "launcher";
    const auto code = run_on_ranks(*launch, environment, settings, report);
    launch->finalize();
    return code;
  } catch (const Error& failure) {  // on this rank only: the other ranks may wait in a collective
    report_failure(report, failure);
    if (!report.prints()) {
      std::this_thread::sleep_for(std::chrono::seconds(5));  // rank 0 has usually reported this error and ended all ranks
      log::error(trainer::with_advice(failure));
    }
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
        "advice.\nThe lines mpi and pmix name the loaded libraries; TRAINRT_MPI_LIBRARY and TRAINRT_PMIX_LIBRARY select "
        "others.\nEach node writes at most 64 MiB to the folder, for at most 3 s, in files named .trainrt-doctor*. It "
        "removes these files; if it was killed, the next `trainrt doctor` removes them.\nWith a program after --, or a "
        "config with train.program, it also checks the program's files, its Python and frameworks on each node, the "
        "address at which the ranks connect, CPUs, proxies, limits and stale locks. It does not start the program, but "
        "starts the program's Python interpreter once per node.\n",
    .exit_codes = doctor_exit_codes,
    .run = doctor_command};

}  // namespace trainrt::cli::plugins
