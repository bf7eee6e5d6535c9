// On a login node: is the config whole, are the files there, what would run?
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/format/listing.hpp"
#include "cli/command.hpp"
#include "cli/datasets/whole_datasets.hpp"
#include "cli/load_spec.hpp"
#include "cli/print.hpp"
#include "cli/train_call.hpp"
#include "comm/backend.hpp"
#include "data/operation.hpp"
#include "frameworks/program/stage/stage.hpp"
#include "io/file.hpp"
#include "io/file_system.hpp"
#include "rundir/completion.hpp"
#include "rundir/run_evidence.hpp"
#include "rundir/run_record.hpp"
#include "trainer/finished_run.hpp"
#include "trainer/listed_datasets.hpp"
#include "trainer/own_run.hpp"
#include "trainer/run.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view check_usage =
    "check [--config FILE] [--trust-owner=USER] [--section.key=value ...] [-- COMMAND ARGS]";

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
  return fmt::format("a run to continue from checkpoint {} (step {}){}", checkpoints.back().number, checkpoints.back().step,
                     accepted);
}

std::filesystem::path existing_part(std::filesystem::path path) {
  while (!std::filesystem::exists(path) && path.has_parent_path() && path != path.parent_path()) path = path.parent_path();
  return path;
}

/// What the run's files will lie on, and what that means for them.
std::string storage_of(const config::RunSpec& spec) {
  const auto there = existing_part(spec.run.storage_path).string();
  if (access(there.c_str(), W_OK | X_OK) != 0)
    throw UsageError(
        fmt::format("run.storage_path: you may not write in {} on this node: choose a folder of your own", there));
  const auto system = io::file_system_of(there);
  auto text = fmt::format("{} on {}, {:.1f} GiB free", spec.run.storage_path, system.name,
                          static_cast<double>(system.free_bytes) / (1 << 30));
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

void check_resume(const config::RunSpec& spec) {
  if (spec.run.resume_from.empty() || checkpoint::highest_number(spec.run_dir) >= 0) return;
  if (!io::exists(spec.run.resume_from + "/manifest.json") && checkpoint::highest_number(spec.run.resume_from) < 0)
    throw UsageError(
        fmt::format("run.resume_from_checkpoint: {} is neither a checkpoint nor a run directory with checkpoints",
                    spec.run.resume_from));
}

/// What each holds, and what its keys make of its samples.
std::vector<std::string> lines_of_datasets(const config::RunSpec& spec) {
  std::vector<std::string> lines;
  datasets::WholeDatasets all(spec.data, spec.run.seed);
  for (const auto& [name, options] : spec.data) {
    lines.push_back(fmt::format("dataset         {}: {}", name, described(all.listing(name))));
    for (const auto& wanted : data::operations_of(options))
      lines.push_back(fmt::format("                {} = {}", wanted.kind->name, options.text(wanted.kind->name)));
    if (!data::operations_of(options).empty())
      lines.push_back(fmt::format("                makes {}", datasets::in_words(*all.open(name))));
  }
  return lines;
}

ExitCode check_command(std::span<const std::string> words) {
  auto spec = load_spec(words, std::string(check_usage));
  const auto function = take_declared(spec);
  trainer::check_spec(spec);
  trainer::use_stores(spec);
  const auto lines = lines_of_datasets(spec);
  check_resume(spec);
  comm::backends_of_name(spec.scaling.backend);
  check_run_dir(spec);
  if (!spec.train.program.empty()) static_cast<void>(training_of(spec));  // looks for the program
  program::stage::require_source(spec.program.stage);
  print_safely("config          ok\n");
  if (spec.train.program.empty())
    print_safely("train function  {}\n", function);
  else
    print_safely("program         {}\n", spec.train.program);
  for (const auto& line : lines) print_safely("{}\n", line);
  print_safely("storage         {}\n", storage_of(spec));
  print_safely("run directory   {}: {}\n", spec.run_dir, standing(spec));
  return ExitCode::finished;
}

}  // namespace

extern const Command check;
const Command check{.name = "check",
                    .usage = check_usage,
                    .help = "is the config whole, are the files there, what would run; starts nothing",
                    .details = "",
                    .run = check_command};

}  // namespace trainrt::cli::plugins
