#include "cli/program_defaults.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/text.hpp"
#include "frameworks/program/script.hpp"

namespace trainrt::cli {

namespace {

constexpr std::size_t longest_stem = 40;

/// The module of `python3 -m MODULE`; "" if it is no such command.
std::string module_of(const std::vector<std::string>& command) {
  const auto option = std::ranges::find(command, "-m");
  return option == command.end() || option + 1 == command.end() ? "" : *(option + 1);
}

std::string stem_of(const std::vector<std::string>& command) {
  auto source = program::script_of(command);
  if (source.empty()) source = module_of(command);
  if (source.empty()) source = command.front();
  auto stem = std::filesystem::path(source).stem().string().substr(0, longest_stem);
  std::ranges::replace_if(
      stem, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  return stem.empty() ? "program" : stem;
}

std::string hash_of(const std::vector<std::string>& command) {
  std::string words;
  for (const auto& word : command) words += word + '\0';
  return fmt::format("{:08x}", static_cast<std::uint32_t>(stable_hash(words)));
}

/// To the millisecond, so that runs that are started one after the other are apart.
std::string date() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y%m%d-%H%M%S}-{:03}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), milliseconds);
}

std::string job_of(const Environment& environment) {
  const auto array = environment.text("SLURM_ARRAY_JOB_ID");
  const auto task = environment.text("SLURM_ARRAY_TASK_ID");
  return array && task ? *array + "_" + *task : environment.text("SLURM_JOB_ID").value_or("");
}

std::string default_storage(const Environment& environment) {
  const auto folder = environment.text("SLURM_SUBMIT_DIR").value_or(std::filesystem::current_path().string());
  return (std::filesystem::path(folder) / "runs").string();
}

}  // namespace

std::string name_of_run(const std::vector<std::string>& command, const Environment& environment) {
  const auto job = job_of(environment);
  const auto stem = stem_of(command);
  return job.empty() ? fmt::format("{}-{}", stem, date()) : fmt::format("{}-{}-{}", stem, job, hash_of(command));
}

bool add_program_defaults(Options& options, const std::vector<std::string>& command, const Environment& environment) {
  if (!options.has("run.storage_path")) options.set("run.storage_path", {default_storage(environment), "default"});
  if (options.has("run.name")) return false;
  options.set("run.name", {name_of_run(command, environment), "default"});
  return true;
}

}  // namespace trainrt::cli
