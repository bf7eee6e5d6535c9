// trainrt check: performs, on a login node, the checks that a start performs, and describes the run.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/format/listing.hpp"
#include "cli/command_line/command.hpp"
#include "cli/config/renamed_config.hpp"
#include "cli/files/atomic_file.hpp"
#include "cli/start/builtin_functions.hpp"
#include "cli/start/checkpoint_space.hpp"
#include "cli/start/load_run_spec.hpp"
#include "cli/start/recovery_text.hpp"
#include "cli/start/resolve_train_function.hpp"
#include "cli/start/workers_text.hpp"
#include "cli/terminal/print.hpp"
#include "cli/tune/sweep_check.hpp"
#include "comm/backend.hpp"
#include "comm/comm_error.hpp"
#include "config/score_order.hpp"
#include "config/value_origin.hpp"
#include "core/environment.hpp"
#include "core/files/shortage.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "data/reshape/operation.hpp"
#include "io/files/file.hpp"
#include "io/files/file_system.hpp"
#include "program/children/other_launcher.hpp"
#include "program/staging/stage.hpp"
#include "rundir/attempts/completion.hpp"
#include "rundir/attempts/run_evidence.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/records/finished_run.hpp"
#include "trainer/records/own_run.hpp"
#include "trainer/run/start_check.hpp"
#include "trainer/start/expanded_config.hpp"
#include "trainer/start/module_loader.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view check_usage = "check [--config FILE] [--section.key=value ...] [-- PROGRAM ARGS]";

constexpr Example check_examples[] = {{"trainrt check --config train.ini", "on a login node, before sbatch"},
                                      {"trainrt check -- python3 train.py", "a program, without a config"}};

constexpr CommandOption check_options[] = {
    config_option,
    override_option,
    program_option,
    trust_owner_option,
    {"write-renamed", "NEW_FILE", "only write a copy of the config with the new names of renamed keys"}};

constexpr ExitNote check_exit_codes[] = {{0, "the run can start"}, {64, "a start would end with the printed error"}};

/// Returns a text that describes how a start would use the run directory. Throws UsageError if the files in the
/// directory contradict each other, because a start would fail, too.
std::string planned_start(const config::RunSpec& spec) {
  const auto checked = rundir::checked_evidence(spec.run_dir, spec.run.accepts_missing_checkpoints, 0);
  const auto record = rundir::read_run_record(spec.run_dir);
  if (!record && spec.run.resume_from.empty()) return "a new run";
  if (!record) return fmt::format("a new run that starts from {}", spec.run.resume_from);
  const auto& missing = checked.accepted;
  if (missing.empty() && trainer::has_finished(*record, spec) && rundir::missing_end(spec.run_dir, *record).empty())
    return "the run has finished; starting it again would change nothing";
  const auto checkpoints = checkpoint::list(spec.run_dir);
  const auto accepted = missing.empty() ? "" : " (allowed by run.missing_checkpoints = accept: " + missing + ")";
  if (checkpoints.empty()) return "a run without a checkpoint, which would start from the beginning" + accepted;
  const auto& newest = checkpoints.back();
  return fmt::format("a run that would continue from checkpoint {} ({}){}", newest.number,
                     rundir::short_point(newest.step, newest.iteration), accepted);
}

/// Returns a description of the file system for the run's files, with warnings.
std::string storage_text(const config::RunSpec& spec) {
  const auto folder = existing_part(spec.run.storage_path);
  const auto system = io::file_system_of(folder);
  auto text = fmt::format("{} on {}, {}", spec.run.storage_path, system.name, free_space_text(folder));
  if (!system.durable) text += "; WARNING: files are in the memory of this node, and are lost when the node restarts";
  if (system.durable && !system.shared) text += "; not shared with other nodes";
  return text;
}

std::string owner_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "another user";
  const auto* user = getpwuid(status.st_uid);
  return user != nullptr ? user->pw_name : fmt::format("user {}", status.st_uid);
}

/// Throws UsageError if the run exists and this user may not change it.
void check_run_dir(const config::RunSpec& spec) {
  for (const auto& path : {spec.run_dir, spec.run_dir + "/attempts"})
    if (io::exists(path) && access(path.c_str(), R_OK | W_OK | X_OK) != 0)
      throw UsageError(fmt::format(
          "the run directory {} exists and belongs to {}: you have no permission to write to {} on this node. Choose "
          "another run.name or run.storage_path",
          spec.run_dir, owner_of(path), path));
  trainer::require_own_run(spec);
}

/// Returns a description of each dataset, and of the steps that its keys request.
std::vector<std::string> dataset_lines(const config::RunSpec& spec, const trainer::CheckedStart& start) {
  std::vector<std::string> lines;
  for (const auto& [name, options] : spec.data) {
    lines.push_back(fmt::format("dataset         {}: {}", name, described(start.found.datasets.at(name))));
    for (const auto& step : data::requested_steps(options))
      lines.push_back(fmt::format("                {} = {}", step.kind->name, options.text(step.kind->name)));
    if (const auto result = start.results.find(name); result != start.results.end())
      lines.push_back("                " + result->second);
  }
  return lines;
}

/// Returns the name of the train function. If the function does not declare its keys of [loop] or its datasets, a note
/// says that they are not checked.
std::string described_function(const config::RunSpec& spec, const std::string& name) {
  const auto declared = trainer::find_function(builtin_functions(), spec.train.function, spec.train.library).declared;
  auto text = name;
  if (declared.loop.empty()) text += ", which declares no keys: [loop] is not checked";
  if (declared.datasets.empty())
    text += fmt::format("{} declares no datasets: a missing [data.NAME] is not reported",
                        declared.loop.empty() ? "; it" : ", which");
  return text;
}

bool is_sweep(const Options& given) {
  const auto keys = given.keys();
  return std::ranges::any_of(keys, [](const auto& key) { return key.starts_with("tune."); });
}

ExitCode check_sweep(const Options& given) {
  const tune::Sweep sweep(trainer::expanded_config(given, Environment::of_process()));
  check_trials(sweep);
  log_direction(sweep);
  print_safely("config          ok\n");
  print_safely("sweep           {}: {}\n", sweep.directory(), counted(static_cast<std::int64_t>(sweep.trials()), "trial"));
  return ExitCode::finished;
}

/// Writes the config with the new names of its keys to the file that --write-renamed names.
ExitCode write_renamed(const Arguments& arguments) {
  if (!arguments.has("config") || arguments.program || !arguments.overrides.empty())
    throw UsageError("--write-renamed requires --config FILE, and accepts neither --section.key=value nor a program");
  const auto& path = arguments.options.at("write-renamed");
  if (io::exists(path)) throw UsageError(fmt::format("--write-renamed: '{}' exists already; choose another name", path));
  const auto renamed = renamed_config(arguments.options.at("config"));
  AtomicFile file(path, false);
  file.write(0, renamed.text);
  file.commit();
  for (const auto& change : renamed.changes) print_safely("{}\n", change);
  print_safely("written         {}, with {}\n", path,
               renamed.changes.empty() ? "no key renamed"
                                       : counted(static_cast<std::int64_t>(renamed.changes.size()), "key") + " renamed");
  return ExitCode::finished;
}

ExitCode check_command(std::span<const std::string> words) {
  const std::string usage(check_usage);
  const auto arguments =
      parse_arguments(words, {.options = check_options, .overrides = true, .program = true, .usage = usage});
  if (arguments.has("write-renamed")) return write_renamed(arguments);
  auto given = read_given_options(arguments, usage);
  if (is_sweep(given)) return check_sweep(given);
  auto spec = run_spec_from(given, arguments, usage);
  const auto function = prepare_train_function(spec);
  config::with_origin<comm::UnknownBackend>(given, "scaling.backend",
                                            [&] { return comm::find_backends(spec.scaling.backend); });
  check_run_dir(spec);
  config::with_origin(given, "program.stage", [&] { program::stage::require_source(spec.program.stage); });
  const auto start = trainer::check_start(spec, function.call);
  print_safely("config          ok\n");
  constexpr int ranks = 1;  // the number of ranks of the start is unknown: a launcher is only a warning
  for (const auto& warning :
       {config::score_order_warning(spec), program::check_launcher(spec.train.command, ranks, ranks, "trainrt -n 2")})
    if (!warning.empty()) log::warning(warning);
  if (spec.train.program.empty())
    print_safely("train function  {}\n", described_function(spec, function.call.name));
  else
    print_safely("program         {}\n", spec.train.program);
  for (const auto& line : dataset_lines(spec, start)) print_safely("{}\n", line);
  if (const auto text = workers_text(spec); !text.empty()) print_safely("workers         {}\n", text);
  print_safely("storage         {}\n", storage_text(spec));
  print_safely("checkpoints     {}\n", checkpoint_space_text(spec));
  if (const auto text = recovery_text(spec, {}); !text.empty()) print_safely("recovery        {}\n", text);
  print_safely("run directory   {}: {}\n", spec.run_dir, planned_start(spec));
  return ExitCode::finished;
}

}  // namespace

extern const Command check;
const Command check{
    .name = "check",
    .group = CommandGroup::run,
    .order = 3,
    .usage = check_usage,
    .help = "validate the config and data files, and show what would run",
    .examples = check_examples,
    .options = check_options,
    .notes =
        "Performs the checks of a start in one process, without training: reads the headers of the data, fits "
        "preprocessors, and writes and removes a small file in run.storage_path. Some train functions then check their "
        "libraries, keys and fields with the first 1000 samples. No file remains.\n"
        "If the config contains [tune], the first trials of the sweep are checked.\n",
    .exit_codes = check_exit_codes,
    .run = check_command};

}  // namespace trainrt::cli::plugins
