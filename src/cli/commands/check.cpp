// trainrt check: does on a login node what a start does up to its train function, and shows what would run.
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
#include "cli/files/new_file.hpp"
#include "cli/start/checkpoint_room.hpp"
#include "cli/start/train_call.hpp"
#include "cli/terminal/print.hpp"
#include "cli/tune/sweep_check.hpp"
#include "cli/words/command.hpp"
#include "cli/words/load_spec.hpp"
#include "cli/words/renamed_config.hpp"
#include "comm/backend.hpp"
#include "core/environment.hpp"
#include "core/files/shortage.hpp"
#include "core/text/text.hpp"
#include "data/reshape/operation.hpp"
#include "io/files/file.hpp"
#include "io/files/file_system.hpp"
#include "program/staging/stage.hpp"
#include "rundir/attempts/completion.hpp"
#include "rundir/attempts/run_evidence.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/records/finished_run.hpp"
#include "trainer/records/own_run.hpp"
#include "trainer/run/start_check.hpp"
#include "trainer/start/expanded_config.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view check_usage =
    "check [--config FILE] [--trust-owner=USER] [--section.key=value ...] [--write-renamed NEW_FILE] [-- COMMAND ARGS]";

/// UsageError if the run directory contradicts itself: a start would be refused as well.
std::string standing(const config::RunSpec& spec) {
  const auto checked = rundir::checked_evidence(spec.run_dir, spec.run.accepts_missing_checkpoints, 0);
  const auto record = rundir::read_run_record(spec.run_dir);
  if (!record && spec.run.resume_from.empty()) return "a new run";
  if (!record) return fmt::format("a new run, to start from {}", spec.run.resume_from);
  const auto& missing = checked.accepted;
  if (missing.empty() && trainer::has_finished(*record, spec) && rundir::missing_end(spec.run_dir, *record).empty())
    return "a run that has finished: starting it would change nothing";
  const auto checkpoints = checkpoint::list(spec.run_dir);
  const auto accepted = missing.empty() ? "" : ", as run.missing_checkpoints = accept allows: " + missing;
  if (checkpoints.empty()) return "a run without a checkpoint: it would start from the beginning" + accepted;
  const auto& newest = checkpoints.back();
  return fmt::format("a run to continue from checkpoint {} ({}){}", newest.number,
                     rundir::short_point(newest.step, newest.iteration), accepted);
}

/// What the run's files will lie on, and what that means for them.
std::string storage_of(const config::RunSpec& spec) {
  const auto there = existing_part(spec.run.storage_path);
  const auto system = io::file_system_of(there);
  auto text = fmt::format("{} on {}, {}", spec.run.storage_path, system.name, room_text(there));
  if (!system.durable) text += "; WARNING: it is memory of this node, and gone with it";
  if (system.durable && !system.shared) text += "; other nodes do not see it";
  return text;
}

std::string owner_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "somebody else";
  const auto* user = getpwuid(status.st_uid);
  return user != nullptr ? user->pw_name : fmt::format("user {}", status.st_uid);
}

/// A run that is there must be one that this user may change.
void check_run_dir(const config::RunSpec& spec) {
  for (const auto& path : {spec.run_dir, spec.run_dir + "/attempts"})
    if (io::exists(path) && access(path.c_str(), R_OK | W_OK | X_OK) != 0)
      throw UsageError(fmt::format(
          "the run directory {} is there and belongs to {}: you may not write in {} on this node. Choose another "
          "run.name or run.storage_path",
          spec.run_dir, owner_of(path), path));
  trainer::require_own_run(spec);
}

/// What each holds, and what its keys make of its samples.
std::vector<std::string> lines_of_datasets(const config::RunSpec& spec, const trainer::CheckedStart& start) {
  std::vector<std::string> lines;
  for (const auto& [name, options] : spec.data) {
    lines.push_back(fmt::format("dataset         {}: {}", name, described(start.found.datasets.at(name))));
    for (const auto& wanted : data::requested_steps(options))
      lines.push_back(fmt::format("                {} = {}", wanted.kind->name, options.text(wanted.kind->name)));
    if (const auto made = start.made.find(name); made != start.made.end())
      lines.push_back("                makes " + made->second);
  }
  return lines;
}

bool is_sweep(const Options& given) {
  const auto keys = given.keys();
  return std::ranges::any_of(keys, [](const auto& key) { return key.starts_with("tune."); });
}

ExitCode check_sweep(const Options& given) {
  const tune::Sweep sweep(trainer::expanded_config(given, Environment::of_process()));
  check_trials(sweep);
  print_safely("config          ok\n");
  print_safely("sweep           {}: {}\n", sweep.directory(), counted(static_cast<std::int64_t>(sweep.trials()), "trial"));
  return ExitCode::finished;
}

/// Writes the config with the new names of its keys to the file that --write-renamed names.
ExitCode write_renamed(const Arguments& arguments) {
  if (!arguments.has("config") || arguments.program || !arguments.overrides.empty())
    throw UsageError("--write-renamed needs --config FILE, and takes no --section.key=value and no program");
  const auto& path = arguments.options.at("write-renamed");
  if (io::exists(path)) throw UsageError(fmt::format("--write-renamed: '{}' exists already; choose another name", path));
  const auto renamed = renamed_config(arguments.options.at("config"));
  NewFile file(path, false);
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
  const auto arguments = parse_arguments(
      words,
      {.with_value = {"config", "trust-owner", "write-renamed"}, .overrides = true, .program = true, .usage = usage});
  if (arguments.has("write-renamed")) return write_renamed(arguments);
  auto given = given_values(arguments, usage);
  if (is_sweep(given)) return check_sweep(given);
  auto spec = spec_of(std::move(given), arguments, usage);
  const auto training = prepared_training(spec);
  comm::find_backends(spec.scaling.backend);
  check_run_dir(spec);
  program::stage::require_source(spec.program.stage);
  const auto start = trainer::check_start(spec, training.call);
  print_safely("config          ok\n");
  if (spec.train.program.empty())
    print_safely("train function  {}\n", training.call.name);
  else
    print_safely("program         {}\n", spec.train.program);
  for (const auto& line : lines_of_datasets(spec, start)) print_safely("{}\n", line);
  print_safely("storage         {}\n", storage_of(spec));
  print_safely("checkpoints     {}\n", checkpoint_room(spec));
  print_safely("run directory   {}: {}\n", spec.run_dir, standing(spec));
  return ExitCode::finished;
}

}  // namespace

extern const Command check;
const Command check{
    .name = "check",
    .usage = check_usage,
    .help = "validate the config, the data and the storage as a start does, and show what would run",
    .details =
        "Does what a start does up to its train function, in this process alone: reads the data's headers, "
        "fits\npreprocessors, and writes and removes a small file in run.storage_path. Train functions that "
        "have a check of their\nown (`trainrt list` names all functions) then try their libraries, keys and "
        "fields over the first 1000 samples.\nNothing is trained, and nothing is left. With [tune] the config "
        "is that of a sweep, whose first trials are checked.\n"
        "--write-renamed NEW_FILE only writes the config to NEW_FILE, with the new names of keys that have been renamed.\n"
        "Exit codes: 0 it can start, 64 a start would end with this error.\n",
    .run = check_command};

}  // namespace trainrt::cli::plugins
