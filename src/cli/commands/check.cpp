// On a login node: is the config whole, are the files there, what would run?
#include <fmt/format.h>

#include "checkpoint/checkpoint.hpp"
#include "cli/command.hpp"
#include "cli/load_spec.hpp"
#include "frameworks/builtin_functions.hpp"
#include "trainer/module_loader.hpp"
#include "trainer/run.hpp"
#include "trainer/run_record.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view usage = "check --config FILE [--section.key=value ...]";

std::string standing(const trainer::RunSpec& spec) {
  const auto record = trainer::read_run_record(spec.run_dir);
  if (!record) return "a new run";
  if (trainer::is_finished_as_is(*record, spec)) return "a run that has finished: starting it would change nothing";
  const auto checkpoints = checkpoint::list(spec.run_dir);
  if (checkpoints.empty()) return "a run without a checkpoint: it would start from the beginning";
  return fmt::format("a run to continue from checkpoint {} (step {})", checkpoints.back().index, checkpoints.back().step);
}

ExitCode check_command(std::span<const std::string> words) {
  const auto spec = load_spec(words, std::string(usage));
  trainer::check_datasets(spec);
  const auto function = trainer::load_function(builtin_functions(), spec.function, spec.library);
  fmt::print("config          ok\n");
  fmt::print("train function  {}\n", function.name);
  for (const auto& [name, options] : spec.data) fmt::print("dataset         {} ok\n", name);
  fmt::print("run directory   {}: {}\n", spec.run_dir, standing(spec));
  return ExitCode::finished;
}

}  // namespace

extern const Command check;
const Command check{.name = "check",
                    .usage = usage,
                    .help = "is the config whole, are the files there, what would run; starts nothing",
                    .details = "",
                    .run = check_command};

}  // namespace trainrt::cli::plugins
